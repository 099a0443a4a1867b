-- claim: returns jobs with expired leases to the front of their queue, then gives a worker the next jobs of its queues.
-- ARGV: clock, worker, request id, limit, length of the lease or '' (followed by the worker's capacity and its free part, as
-- core/limits/resources.ts writes it), and the queues in order.
-- Returns the time, the next time at which a job may be claimable or '', and each job as record.show writes it.
-- uses: values, context, events, indexes, lifecycle, operation, queue-settings, queues, record, record-changes
-- uses: unit-of-work
-- on demand: bucket-parking, buckets, equal-jobs, fitting, lost-leases, parking, rates, resources, slots, throttles, turns
operation.begin()

local _, worker, requestId, limit, leaseMs = unpack(args)
local names = context.closed and {} or { select(6, unpack(args)) }
limit = tonumber(limit)
local lengthOf, wholeText, freeText = leaseMs:match('^(%S*) ?(%S*) ?(%S*)$')
leaseMs = lengthOf
local whole, free = nil, nil -- resources, read when a job needs some
local taken, parked = {}, 0
local hasLeft, isUnserved = false, false -- whether jobs may be parked under a bucket that is open; and the claim has room for them
local last = call('HGET', P .. 'j', '@' .. worker)
local lastEnd = last and (last:find('\30\30', 1, true) or 0) - 1 -- the end of the latest request
local MAX = { page = 1000, dropped = 10000 }

-- Stores the claim in the same write as the records, so that a repeated request finds all of it or nothing. A worker without a
-- stored claim may be unregistered: then maintenance deletes its claim after a time.
local function rememberClaim()
  if #taken == 0 then return end
  if not last then unitOfWork.put('expiring', text(context.now + K.UNREGISTERED_WORKER_EXPIRY_MS), '@\31' .. worker) end
  local parts, n = { requestId .. '\30' .. context.nowText }, 1
  for i = 1, #taken do
    parts[n + 1], parts[n + 2] = taken[i].id, taken[i].lease.token
    n = n + 2
  end
  -- The request before it is kept: a worker may have two in flight.
  context.claim = { '@' .. worker, table.concat(parts, '\31') .. (last and '\30\30' .. last:sub(1, lastEnd) or '') }
end

-- Moves due jobs to the ready index.
local function promote(queue)
  local key = 'later:' .. queue
  local due = call('ZRANGEBYSCORE', P .. key, '-inf', context.nowText, 'LIMIT', 0, K.MAX_PROMOTED)
  local found = record.bySeqs(record.seqsOf(due))
  for i = 1, #due do
    if found[i] and found[i].place == 'w' then unitOfWork.touch(found[i]) else unitOfWork.drop(key, due[i]) end
  end
  unitOfWork.flush()
end

-- Reads an index in pages: first as many as are wanted, then more at a time, since there must be leftovers.
local function pager(command, key)
  local page, found, at, offset, size = {}, {}, 0, 0, limit - #taken
  return function()
    at = at + 1
    if at > #page then
      page = call(command, P .. key, offset, offset + size - 1)
      found, at, offset, size = record.bySeqs(record.seqsOf(page)), 1, offset + #page, math.min(4 * size, MAX.page)
    end
    return page[at], found[at], offset - #page + at
  end
end

-- Reads the ready jobs in order. Leftovers are skipped and removed.
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
        -- After a backward step of the clock there may be any number of them: each call scans some (clock-step.lua).
        notDue = notDue + 1
        if context.stepFrom and notDue >= MAX.page then return nil end
      end
    end
  end
end

-- Reads the plain jobs in order, which is by time: the first one that is not due ends it.
local function plainReader(queue)
  local nextSeq = pager('LRANGE', 'fifo:' .. queue)
  return function()
    for seq, job, place in nextSeq do
      if job and job.place == 'f' and job.queue == queue then
        job.fifoAt = place
        return (not context.isBehind or record.runAtOf(job) <= context.now) and job or nil
      end
      if unitOfWork.pop(queue, place, seq) >= MAX.dropped then return nil end
    end
  end
end

-- Returns whether a ready job comes before a plain one, which has priority 0 and no turn.
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
  local isResumed = fields.suspended ~= nil
  if not isResumed then fields.attempt = text(number(fields.attempt) + 1) end
  fields.returnedAt, fields.progress = nil, nil
  recordChanges.setLease(job, { token = token, ms = ms, to = context.now + ms, claimedAt = context.nowText, worker = worker })
  lifecycle.apply(job, isResumed and 'resumed' or 'claimed', { token = token, by = worker })
  taken[#taken + 1] = job
end

local function roomNow()
  if not free then whole, free = require('resources').readResources(wholeText), require('resources').readResources(freeText) end
  return free
end

local function unparkOpen(queue, most, but)
  local isBack
  isBack, hasLeft = require('bucket-parking').unparkOpen(queue, most, but)
  return isBack
end

-- Claims the job with its equal ones, or parks it under a full throttle. Returns whether other jobs joined or left the queue.
local function takeOrPark(job, queue, ms, settings)
  local isPlain = not job.fields.throttles and #settings.throttles == 0 and not orNil(settings.keys)
  local addresses = isPlain and {} or require('throttles').throttlesOf(job, settings)
  local full = not isPlain and require('throttles').fullAmong(addresses)
  local isThrottled, used, closed, opensAt = full, nil, nil, nil
  local needs = job.fields.needs or settings.needs
  if not full and needs ~= '' and not require('resources').fits(needs, roomNow()) then full = 'n:' .. queue .. ':' .. needs end
  if not full and #addresses > 0 then used, closed, opensAt = require('buckets').closedAmong(job, addresses) end
  if closed then full, isThrottled = require('bucket-parking').parkUnder(closed, queue, opensAt), true end
  leaveLine(job, queue)
  if not full then
    if #addresses > 0 then
      require('slots').takeSlots(job, addresses)
      require('buckets').takeCost(used)
    end
    if orNil(settings.maxRunning) then job.fields.counted = queue end
    take(job, ms)
    local coalesce = orNil(settings.coalesce)
    local isCoalesced = coalesce ~= nil and require('equal-jobs').coalesceAll(job, coalesce) > 0
    if isCoalesced and hasLeft then unparkOpen(queue, limit) end
    if needs == '' and not isCoalesced then return false end
    require('resources').spend(needs, roomNow())
    -- A job that would fit may have been coalesced.
    return require('fitting').unparkFitting(queue, roomNow()) or isCoalesced
  end
  job.place, job.fields.parked, parked = 'k', full, parked + 1
  local hasLeftRoom = isThrottled and needs ~= '' and require('fitting').unparkFitting(queue, roomNow(), job)
  -- A job behind it may be parked under a bucket of its that is open.
  if hasLeft and (not closed or #addresses > 1 or needs ~= '') then hasLeftRoom = unparkOpen(queue, 1, job) or hasLeftRoom end
  return require('parking').unparkBehind(job) or hasLeftRoom
end

-- Returns whether the queue must be read again, since jobs joined or left it.
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
  hasLeft = false
  local isLimited = rate or orNil(settings.maxRunning)
  if isLimited and #context.touched > 0 then unitOfWork.flush() end
  local most = isLimited and math.min(limit, #taken + require('rates').roomIn(queue, settings)) or limit
  if most > #taken and call('EXISTS', P .. 'needs:' .. queue) == 1 then
    roomNow()
    if require('fitting').isReserved(queue, whole, free) then return end
    local isBack = require('fitting').unparkFitting(queue, free)
    if unparkOpen(queue, most - #taken) or isBack then unitOfWork.flush() end
  end
  while #taken < most and serveLine(queue, ms, settings, most) do
    rememberClaim()
    unitOfWork.flush()
  end
  isUnserved = isUnserved or (hasLeft and #taken < most)
  if #taken == before then return end
  if rate then require('rates').countStarts(queue, rate, #taken - before) end
  if orNil(settings.keys) then
    local turn = 0
    for i = before + 1, #taken do turn = math.max(turn, number(taken[i].fields.turn)) end
    require('turns').serveTurn(queue, turn)
  end
end

-- Returns the score of the first member of an index.
local function soonest(key)
  return tonumber(call('ZRANGE', P .. key, 0, 0, 'WITHSCORES')[2])
end

local leaseEnds, runAts = {}, {} -- of served queues: the earliest of each, as far as it is known
local isAlone = #context.touched == 0 -- jobs settled by the same call are still in the running index

local function takeFrom(queue)
  local settings = queueSettings.settingsOf(queue)
  if settings.state ~= 'up' then return end
  rememberClaim()
  -- Claimed jobs may have webhooks, which are jobs of this queue.
  if context.newJobs then unitOfWork.flush() end
  -- A job that keeps others parked may not be due at an earlier time: then all are unparked.
  if context.isBehind and not context.stepFrom then
    if require('parking').unpark('parked:' .. queue, math.huge) > 0 then unitOfWork.flush() end
  end
  local leaseEnd, runAt = soonest('running:' .. queue), soonest('later:' .. queue)
  -- An expired lease frees slots for jobs that were parked in an earlier queue: they must be written before.
  if parked > 0 and leaseEnd and leaseEnd <= context.now then unitOfWork.flush() end
  if leaseEnd and leaseEnd <= context.now and require('lost-leases').expireLeases(queue, K.MAX_EXPIRED) > 0 then
    -- Failed jobs may have released their dependents, in queues that were served before too.
    runAts, runAt = {}, soonest('later:' .. queue)
  end
  if runAt and runAt <= context.now then promote(queue) else runAts[queue] = runAt or math.huge end
  local ms, before = tonumber(leaseMs) or settings.leaseMs, #taken
  serve(queue, ms, settings)
  -- Scheduled jobs may have been coalesced into the claimed ones: the next run time of the others is read again.
  if #taken > before and (orNil(settings.coalesce) or {}).scheduled then runAts[queue] = nil end
  local mine = #taken > before and context.now + ms or math.huge
  if isAlone and (not leaseEnd or leaseEnd > context.now) then leaseEnds[queue] = math.min(leaseEnd or math.huge, mine) end
end

-- Returns the stored claim of this request, if it is one of the worker's last two.
local function remembered()
  for _, claim in ipairs(last and { last:sub(1, lastEnd), lastEnd >= 0 and last:sub(lastEnd + 3) or nil } or {}) do
    if claim:match('^[^\30\31]*') == requestId then return claim end
  end
end

-- Repeats the answer to an earlier request, for the leases that are still held.
local function again(claim)
  local ids, tokens = {}, {}
  for id, token in claim:gmatch('\31([^\31]*)\31(%d+)') do
    ids[#ids + 1], tokens[#tokens + 1] = id, token
  end
  record.load(ids)
  for i = 1, #ids do
    local job = context.jobs[ids[i]]
    if record.holds(job, tokens[i]) then taken[#taken + 1] = job end
  end
end

-- Returns the first score of an index after now.
local function nextIn(key)
  local later = call('ZRANGEBYSCORE', P .. key, '(' .. context.nowText, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  return tonumber(later[2]) or math.huge
end

local repeated = remembered()

-- Returns when the parked jobs of a queue are checked again. A repair does not know when a bucket opens, and has its jobs checked at
-- once; a repeated request checks none.
local function nextCheck(queue)
  local key, next = 'needs:' .. queue, nextIn('needs:' .. queue)
  for _, park in ipairs(repeated and call('ZRANGEBYSCORE', P .. key, '(0', context.nowText, 'LIMIT', 0, K.MAX_WAKES) or {}) do
    local buckets = require('buckets')
    next = math.min(next, math.max(context.now + 1, buckets.stateOf(buckets.at(park:match('^r:[^:]*:(.*)$'))).to))
  end
  return next
end

-- Returns the earliest time at which a job becomes claimable without another call.
local function nextAt()
  local next = math.huge
  for _, queue in ipairs(names) do
    local settings = queueSettings.settingsOf(queue)
    if settings.state == 'up' then
      next = math.min(next, runAts[queue] or nextIn('later:' .. queue), nextCheck(queue))
      for _, job in ipairs(queues.notDue(queue)) do next = math.min(next, record.runAtOf(job)) end
      local rate = orNil(settings.rate)
      next = math.min(next, rate and require('rates').nextStart(queue, rate) or math.huge)
      local leaseEnd = settings.onLost ~= 'hold' and (leaseEnds[queue] or soonest('running:' .. queue))
      if leaseEnd then next = math.min(next, leaseEnd + settings.lostGraceMs) end
    end
  end
  return next == math.huge and '' or text(next)
end

if repeated then
  again(repeated)
else
  for _, queue in ipairs(names) do
    if #taken >= limit then break end
    takeFrom(queue)
  end
  rememberClaim()
end
unitOfWork.flush()
events.publish()

-- Jobs that were not scanned since the clock went back may be due.
local isCutShort = isUnserved or (parked >= K.MAX_PARKED and #taken < limit) or (context.stepFrom and not context.closed)
local answer = { context.nowText, isCutShort and text(context.now + 1) or nextAt() }
for i = 1, #taken do record.show(answer, taken[i]) end
return answer
