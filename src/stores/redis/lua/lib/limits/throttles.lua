-- throttles: the throttles of a job, and how full they are (core/limits/throttle.ts).
-- uses: values, context, queue-settings

local throttles = {}
context.namedThrottles = {} -- by name

-- Returns a field of the data as part of a key, or nil.
local function keyPart(value)
  if type(value) == 'boolean' then return tostring(value) end
  if type(value) == 'number' then
    return value % 1 == 0 and value > -1e15 and value < 1e15 and ('%d'):format(value) or nil
  end
  if type(value) ~= 'string' or value:find('[%z\1-\31]') then return nil end
  return (value:gsub('[\\|]', '\\%0'))
end

local function dataOf(job)
  local address = 'd' .. job.id
  local isApart = (job.fields.apart or ''):find('d', 1, true)
  if not isApart then return job.data:sub(11) end
  return ((context.longTexts and context.longTexts[address]) or call('HGET', P .. 'big', address) or ''):sub(9)
end

function throttles.parts(encoded)
  return (encoded ~= '' and encoded .. '\30' or ''):gmatch('([^\30]*)\30')
end

local function fieldAt(value, path)
  for name in path:gmatch('[^.]+') do
    if type(value) ~= 'table' then return nil end
    value = value[name]
  end
  return value
end

-- Returns a field of the data, or nil.
function throttles.fieldIn(job, path)
  local isRead, whole = pcall(cjson.decode, dataOf(job))
  return isRead and fieldAt(whole, path) or nil
end

function throttles.keyIn(job, paths)
  local isRead, whole = pcall(cjson.decode, dataOf(job))
  local found = {}
  for i = 1, #paths do
    if isRead then found[i] = keyPart(fieldAt(whole, paths[i])) end
    if not found[i] then return nil end
  end
  return table.concat(found, '|')
end

function throttles.keyOf(job, keys)
  if job.fields.key then return job.fields.key end
  return #keys.by > 0 and throttles.keyIn(job, keys.by) or nil
end

-- Returns the addresses of the throttles of which a job needs a slot, in order. Jobs with the same names share the list.
function throttles.throttlesOf(job, settings)
  local found, known, keys, named = {}, {}, orNil(settings.keys), job.fields.throttles
  if named and not keys and context.throttleLists[named] then return context.throttleLists[named] end
  local key = keys and throttles.keyOf(job, keys)
  if key then found[1] = 'k:' .. job.queue .. ':' .. key end
  local function name(address)
    if not known[address] then found[#found + 1] = address end
    known[address] = true
  end
  if named then
    for each in throttles.parts(named) do name('t:' .. each) end
    if not keys then context.throttleLists[named] = found end
  else
    for i = 1, #settings.throttles do name('t:' .. settings.throttles[i]) end
  end
  return found
end

-- Returns the settings of a named throttle, with the version of its record: core/limits/bucket.ts.
function throttles.named(name)
  local known = context.namedThrottles[name]
  if not known then
    local stored = call('HGET', P .. 'records:throttle', name)
    local version, value = (stored or '0\31\31\31{}'):match('^([^\31]*)\31[^\31]*\31[^\31]*\31(.*)$')
    known = cjson.decode(value)
    known.version, context.namedThrottles[name] = version, known
  end
  return known
end

local function readMax(address)
  local queue = address:match('^k:([^:]*):')
  if queue then
    local keys = orNil(queueSettings.settingsOf(queue).keys)
    return keys and orNil(keys.limit)
  end
  return orNil(throttles.named(address:sub(3)).max)
end

-- Returns the maximum of a throttle, if it has one. A call reads it once, for all of its jobs.
function throttles.maxOf(address)
  local known = context.slotLimits[address]
  if known == nil then
    known = readMax(address) or false
    context.slotLimits[address] = known
  end
  return known
end

-- Returns how many slots are held, including what this call has taken and freed.
function throttles.held(address)
  context.slotCounts[address] = context.slotCounts[address] or call('ZCARD', P .. 'slots:' .. address)
  return context.slotCounts[address]
end

function throttles.isFull(address)
  local max = throttles.maxOf(address)
  return max and throttles.held(address) >= max
end

function throttles.fullAmong(addresses)
  for i = 1, #addresses do
    if throttles.isFull(addresses[i]) then return addresses[i] end
  end
end

return throttles
