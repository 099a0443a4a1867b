-- claim: what was lost comes back to the front of its queue, then the queue is served in its order.
-- ARGV: clock, worker, request id, limit, length of the lease or '' (and after it what the worker has, and what of it is
-- free, as core/limits/resources.ts writes it), and the queues in order.
-- Returns the time, the next time that matters or '', and for each job what record.show says of it.
-- uses: values, context, events, indexes, lifecycle, operation, queue-settings, queues, record, record-changes
-- uses: unit-of-work
-- on demand: coalescing, lost-leases, parking, rates, resources, slots, throttles, turns
operation.begin()

local _, worker, requestId, limit, leaseMs = unpack(args)
local names = context.closed and {} or { select(6, unpack(args)) }
limit = tonumber(limit)
local lengthOf, wholeText, freeText = leaseMs:match('^(%S*) ?(%S*) ?(%S*)$')
leaseMs = lengthOf
local whole, free = nil, nil -- units, once a job needs some
local taken, parked = {}, 0
local last = call('HGET', P .. 'j', '@' .. worker)
local MOST = { page = 1000, dropped = 10000 }

-- What the worker was given stands with the records of it in one write, so that a repeat finds all or nothing. One of
-- whom nothing was remembered may never be registered: then maintenance comes by some day and forgets it.
local function rememberClaim()
  if #taken == 0 then return end
  if not last then unitOfWork.put('expiring', text(context.now + K.STRANGER_EXPIRY_MS), '@\31' .. worker) end
  local words, n = { requestId .. '\30' .. context.nowText }, 1
  for i = 1, #taken do
    words[n + 1], words[n + 2] = taken[i].id, taken[i].lease.token
    n = n + 2
  end
  context.claim = { '@' .. worker, table.concat(words, '\31') }
end

-- Those whose time has come go over to the ready ones.
local function promote(queue)
  local key = 'later:' .. queue
  local due = call('ZRANGEBYSCORE', P .. key, '-inf', context.nowText, 'LIMIT', 0, K.MAX_PROMOTED)
  local found = record.bySeqs(record.seqsOf(due))
  for i = 1, #due do
    if found[i] and found[i].place == 'w' then unitOfWork.touch(found[i]) else unitOfWork.drop(key, due[i]) end
  end
  unitOfWork.flush()
end

-- Pages through an index: as many at first as are wanted, then more at a time, since there must be leftovers.
local function pager(command, key)
  local page, found, at, offset, size = {}, {}, 0, 0, limit - #taken
  return function()
    at = at + 1
    if at > #page then
      page = call(command, P .. key, offset, offset + size - 1)
      found, at, offset, size = record.bySeqs(record.seqsOf(page)), 1, offset + #page, math.min(4 * size, MOST.page)
    end
    return page[at], found[at], offset - #page + at
  end
end

-- The ready ones in their order. Leftovers are passed over, to be dropped.
local function readyReader(queue)
  local key = 'ready:' .. queue
  local nextMember, notDue = pager('ZRANGE', key), 0
  return function()
    for member, job in nextMember do
      if not (job and job.place == 'w' and job.queue == queue and indexes.readyMember(job) == member) then
        unitOfWork.drop(key, member)
      elseif not context.isBehind or record.runAtOf(job) <= context.now then
        return job
      else
        -- After a step back of the clock there may be any number of them: each call looks at some (see steps).
        notDue = notDue + 1
        if context.stepFrom and notDue >= MOST.page then return nil end
      end
    end
  end
end

-- The plain ones in their order, which is that of time: the first whose time has not come ends it.
local function plainReader(queue)
  local nextSeq = pager('LRANGE', 'fifo:' .. queue)
  return function()
    for seq, job, place in nextSeq do
      if job and job.place == 'f' and job.queue == queue then
        job.fifoAt = place
        return (not context.isBehind or record.runAtOf(job) <= context.now) and job or nil
      end
      if unitOfWork.pop(queue, place, seq) >= MOST.dropped then return nil end
    end
  end
end

-- Whether the ready job goes before the plain one, whose priority is 0 and who has no turn.
local function isBefore(job, plain)
  local priority = number(job.fields.priority)
  if job.fields.returnedAt or priority < 0 then return true end
  if priority > 0 or job.fields.turn then return false end
  local a, b = record.runAtOf(job), record.runAtOf(plain)
  return a < b or (a == b and tonumber(job.seq) < tonumber(plain.seq))
end

local function leaveLine(job, queue)
  if job.place == 'f' then
    job.isPopped = true
    unitOfWork.pop(queue, job.fifoAt)
  end
  unitOfWork.touch(job)
end

local function take(job, ms)
  context.token = context.token + 1
  local fields, token = job.fields, text(context.token)
  job.place = 'r'
  fields.attempt = text(number(fields.attempt) + 1)
  fields.returnedAt, fields.progress = nil, nil
  recordChanges.setLease(job, { token = token, ms = ms, to = context.now + ms, claimedAt = context.nowText, worker = worker })
  lifecycle.apply(job, 'claimed', { token = token, by = worker })
  taken[#taken + 1] = job
end

local function roomNow()
  if not free then whole, free = require('resources').readResources(wholeText), require('resources').readResources(freeText) end
  return free
end

-- Takes the job, with its equals, or parks it under a throttle that is full. Answers whether the line is another by that.
local function takeOrPark(job, queue, ms, settings)
  local isPlain = not job.fields.throttles and #settings.throttles == 0 and not orNil(settings.keys)
  local addresses = isPlain and {} or require('throttles').throttlesOf(job, settings)
  local full = not isPlain and require('throttles').fullAmong(addresses)
  local isThrottled = full
  local needs = job.fields.needs or settings.needs
  if not full and needs ~= '' and not require('resources').fits(needs, roomNow()) then full = 'n:' .. queue .. ':' .. needs end
  leaveLine(job, queue)
  if not full then
    if #addresses > 0 then require('slots').takeSlots(job, addresses) end
    if orNil(settings.maxRunning) then job.fields.counted = queue end
    take(job, ms)
    local coalesce = orNil(settings.coalesce)
    local isFolded = coalesce ~= nil and require('coalescing').coalesceAll(job, coalesce) > 0
    if needs == '' and not isFolded then return false end
    require('resources').spend(needs, roomNow())
    -- One that fits may have gone with its equal.
    return require('parking').unparkFitting(queue, roomNow()) or isFolded
  end
  job.place, job.fields.parked, parked = 'k', full, parked + 1
  local hasLeftRoom = isThrottled and needs ~= '' and require('parking').unparkFitting(queue, roomNow(), job)
  return require('parking').unparkBehind(job) or hasLeftRoom
end

-- Answers whether the line must be looked at anew, since somebody came back into it or left it.
local function serveLine(queue, ms, settings, most)
  local nextReady, nextPlain = readyReader(queue), plainReader(queue)
  local ready, plain = nextReady(), nextPlain()
  while #taken < most and parked < K.MAX_PARKED and (ready or plain) do
    local isReady = ready and (not plain or isBefore(ready, plain))
    if takeOrPark(isReady and ready or plain, queue, ms, settings) then return true end
    if isReady then ready = #taken < most and nextReady() else plain = #taken < most and nextPlain() end
  end
  return false
end

local function serve(queue, ms, settings)
  local rate, before = orNil(settings.rate), #taken
  local isLimited = rate or orNil(settings.maxRunning)
  if isLimited and #context.touched > 0 then unitOfWork.flush() end
  local most = isLimited and math.min(limit, #taken + require('rates').roomIn(queue, settings)) or limit
  if most > #taken and call('EXISTS', P .. 'needs:' .. queue) == 1 then
    roomNow()
    if require('parking').isReserved(queue, whole, free) then return end
    if require('parking').unparkFitting(queue, free) then unitOfWork.flush() end
  end
  while #taken < most and serveLine(queue, ms, settings, most) do
    rememberClaim()
    unitOfWork.flush()
  end
  if #taken == before then return end
  if rate then require('rates').countStarts(queue, rate, #taken - before) end
  if orNil(settings.keys) then
    local turn = 0
    for i = before + 1, #taken do turn = math.max(turn, number(taken[i].fields.turn)) end
    require('turns').serveTurn(queue, turn)
  end
end

-- The score of the first member of an index.
local function soonest(key)
  return tonumber(call('ZRANGE', P .. key, 0, 0, 'WITHSCORES')[2])
end

local leaseEnds, runAts = {}, {} -- of queues that were served: the soonest of each, as far as it was found out
local isAlone = #context.touched == 0 -- what was settled before it in the same call still stands among the running ones

local function takeFrom(queue)
  local settings = queueSettings.settingsOf(queue)
  if settings.state ~= 'up' then return end
  rememberClaim()
  -- Those it has taken may have hooks, which are jobs of this queue.
  if context.newJobs then unitOfWork.flush() end
  -- Who stands for others among the ready ones may not be due at an earlier time: then all are looked at anew.
  if context.isBehind and not context.stepFrom and require('parking').unpark('parked:' .. queue, math.huge) > 0 then unitOfWork.flush() end
  local leaseEnd, runAt = soonest('running:' .. queue), soonest('later:' .. queue)
  -- A slot that comes back with a lost lease is for whoever was parked in a queue before: he must stand there by then.
  if parked > 0 and leaseEnd and leaseEnd <= context.now then unitOfWork.flush() end
  if leaseEnd and leaseEnd <= context.now and require('lost-leases').expireLeases(queue, K.MAX_OVERTAKEN) > 0 then
    -- What failed with them may have set free what waited for it, also in queues that were looked at before.
    runAts, runAt = {}, soonest('later:' .. queue)
  end
  if runAt and runAt <= context.now then promote(queue) else runAts[queue] = runAt or math.huge end
  local ms, before = tonumber(leaseMs) or settings.leaseMs, #taken
  serve(queue, ms, settings)
  local mine = #taken > before and context.now + ms or math.huge
  if isAlone and (not leaseEnd or leaseEnd > context.now) then leaseEnds[queue] = math.min(leaseEnd or math.huge, mine) end
end

-- Answers the leases of the worker's latest request again, as far as they still hold.
local function again(last)
  local ids, tokens = {}, {}
  for id, token in last:gmatch('\31([^\31]*)\31(%d+)') do
    ids[#ids + 1], tokens[#tokens + 1] = id, token
  end
  record.load(ids)
  for i = 1, #ids do
    local job = context.jobs[ids[i]]
    if record.holds(job, tokens[i]) then taken[#taken + 1] = job end
  end
end

local function nextRunAt(queue)
  local later = call('ZRANGEBYSCORE', P .. 'later:' .. queue, '(' .. context.nowText, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  return tonumber(later[2]) or math.huge
end

-- The soonest time at which time alone would make something claimable.
local function nextAt()
  local next = math.huge
  for _, queue in ipairs(names) do
    local settings = queueSettings.settingsOf(queue)
    if settings.state == 'up' then
      next = math.min(next, runAts[queue] or nextRunAt(queue))
      for _, job in ipairs(queues.notDue(queue)) do next = math.min(next, record.runAtOf(job)) end
      local rate = orNil(settings.rate)
      next = math.min(next, rate and require('rates').rateNextAt(queue, rate) or math.huge)
      local leaseEnd = settings.onLost ~= 'hold' and (leaseEnds[queue] or soonest('running:' .. queue))
      if leaseEnd then next = math.min(next, leaseEnd + settings.lostGraceMs) end
    end
  end
  return next == math.huge and '' or text(next)
end

if last and last:match('^[^\30\31]*') == requestId then
  again(last)
else
  for _, queue in ipairs(names) do
    if #taken >= limit then break end
    takeFrom(queue)
  end
  rememberClaim()
end
unitOfWork.flush()
events.publish()

-- Jobs that were not looked at since the clock went back may be due.
local isCutShort = (parked >= K.MAX_PARKED and #taken < limit) or (context.stepFrom and not context.closed)
local answer = { context.nowText, isCutShort and text(context.now + 1) or nextAt() }
for i = 1, #taken do record.show(answer, taken[i]) end
return answer
