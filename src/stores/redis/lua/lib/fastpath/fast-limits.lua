-- fast-limits: throttles, resources and unique keys of the jobs of the fast path (fastpath.lua). It is set up when a job has one.
--
-- It declines where a job must be parked or unparked, and where a unique key is held. Locals are the state of one call.
-- uses: batch

local throttles = {} -- by address: its maximum, the slots that are held, whether jobs wait for one, and its index
local addresses, ids = {}, {} -- unique keys that may have to be released, and the jobs that release them

-- Returns the address of a unique key, what ends it, and its period.
local function addressOf(unique, queue)
  local scope, ends, periodMs, key = unique:match('^(%S+) (%S+) (%S+) (.*)$')
  return scope == 'store' and 's:' .. key or 'q:' .. queue .. ':' .. key, ends, tonumber(periodMs)
end

local function noteKey(unique, queue, id, isStart)
  local address, ends = addressOf(unique, queue)
  if ends ~= (isStart and 'started' or ends) or ends == 'period' then return end
  addresses[#addresses + 1], ids[#ids + 1] = address, id
end

-- Returns the throttles in a list of addresses or names, each once.
local function throttlesIn(list, prefix)
  local found, isKnown = {}, {}
  for name in (list ~= '' and list .. '\30' or ''):gmatch('([^\30]*)\30') do
    local address = prefix .. name
    local throttle = throttles[address] or { address = address, max = false, held = false, isAwaited = nil, index = false }
    if not isKnown[address] then found[#found + 1] = throttle end
    throttles[address], isKnown[address] = throttle, true
  end
  return found
end

-- Reads how many slots are held; the count follows what this call takes and frees.
local function readHeld(throttle)
  throttle.held, throttle.index = call('ZCARD', P .. 'slots:' .. throttle.address), batch.index('slots:' .. throttle.address)
end

local function readMax(throttle)
  local stored = call('HGET', P .. 'records:throttle', throttle.address:sub(3))
  local settings = stored and cjson.decode(stored:match('^[^\31]*\31[^\31]*\31[^\31]*\31(.*)$')) or {}
  throttle.max = settings.max or math.huge
  -- A throttle with a rate or a pause counts as full: the general path decides.
  if settings.rate or call('HEXISTS', P .. 'j', '!' .. throttle.address) == 1 then throttle.max = 0 end
end

-- Takes a slot of each throttle. Returns false if one is full.
local function takeSlots(list, hex)
  for i = 1, #list do
    local throttle = list[i]
    if not throttle.held then readHeld(throttle) end
    if not throttle.max then readMax(throttle) end
    if throttle.held >= throttle.max then return false end
  end
  for i = 1, #list do
    local entries = list[i].index.entries
    local n = #entries
    entries[n + 1], entries[n + 2], list[i].held = '0', hex, list[i].held + 1
  end
  return true
end

-- Frees the slots of a job. Returns false if another job waits for one of them.
local function freeSlots(list, hex)
  for i = 1, #list do
    local throttle = list[i]
    if not throttle.held then readHeld(throttle) end
    if throttle.isAwaited == nil then throttle.isAwaited = call('EXISTS', P .. 'parks:' .. throttle.address) == 1 end
    if throttle.isAwaited then return false end
    local members = throttle.index.members
    members[#members + 1], throttle.held = hex, throttle.held - 1
  end
  return true
end

-- Takes resources from the free capacity of a worker. Returns whether they fit.
local function takeResources(needs, claim)
  local room = claim.room
  if not room then
    room = {}
    for unit, count in claim.capacity:match('^%S* ?%S* ?(%S*)$'):gmatch('([%w_]+)=(%d+)') do room[unit] = tonumber(count) end
    claim.room = room
  end
  for unit, count in needs:gmatch('([%w_]+)=(%d+)') do
    if count + 0 > (room[unit] or 0) then return false end
    room[unit] = room[unit] - count
  end
  return true
end

return {
  -- Returns the limits in the fields of a job. Jobs with the same fields share them.
  read = function(fields)
    local names, held = fields:match('\31throttles=([^\31]*)'), fields:match('\31slots=([^\31]*)')
    local list, found = names and throttlesIn(names, 't:'), {}
    for i = 1, list and #list or 0 do found[i] = list[i].address end
    return {
      throttles = list, slots = found[1] and '\31slots=' .. table.concat(found, '\30') or '', held = held and throttlesIn(held, ''),
      needs = fields:match('\31needs=([^\31]*)'), unique = fields:match('\31unique=([^\31]*)'),
    }
  end,

  -- A job that is claimed. Returns the field of its slots, or ''; nil if it must wait.
  start = function(limits, claim, queue, id, hex)
    if limits.needs and not takeResources(limits.needs, claim) then return nil end
    if limits.throttles and not takeSlots(limits.throttles, hex) then return nil end
    if limits.unique then noteKey(limits.unique, queue, id, true) end
    return limits.slots
  end,

  -- A job whose attempt ends; `isOver` if the job ends. Returns false if another job waits for one of its slots.
  finish = function(limits, queue, id, hex, isOver)
    if limits.held and not freeSlots(limits.held, hex) then return false end
    if limits.unique and isOver then noteKey(limits.unique, queue, id, false) end
    return true
  end,

  -- Takes the unique keys of new jobs. Returns false if one is held, or two jobs want the same.
  takeKeys = function(runs)
    local set, periods, isTaken, n = {}, {}, {}, 0
    for i = 1, #runs do
      local run = runs[i]
      if run.unique then
        local address, ends, periodMs = addressOf(run.unique, run.queue.name)
        if isTaken[address] or run.last > run.first + 1 or periodMs % 1 ~= 0 then return false end
        local to = ends == 'period' and ('%d'):format(batch.now + periodMs)
        n, isTaken[address] = n + 1, true
        addresses[n], set[2 * n - 1], set[2 * n] = address, address, (to or '-') .. ' ' .. args[run.first]
        if to then periods[#periods + 1], periods[#periods + 2] = to, address end
      end
    end
    local found = call('HMGET', P .. 'keys', unpack(addresses))
    for i = 1, n do
      local to = found[i] and found[i]:match('^%S+')
      if to and (to == '-' or to + 0 > batch.now) then return false end
    end
    batch.keys = { set = set, periods = periods, gone = {} }
    return true
  end,

  -- Releases the unique keys of the jobs that were started or ended, if they still hold them.
  releaseKeys = function()
    local gone, found = {}, addresses[1] and call('HMGET', P .. 'keys', unpack(addresses)) or {}
    for i = 1, #addresses do
      if found[i] and found[i]:match('^%S+ (.*)$') == ids[i] then gone[#gone + 1] = addresses[i] end
    end
    if gone[1] then batch.keys = { set = {}, periods = {}, gone = gone } end
  end,
}
