-- claim: what was lost comes back to the front of its queue, then the queue is served in its order.
-- ARGV: clock, worker, request id, limit, length of the lease or '', and the queues in order.
-- Returns the time, the next time that matters or '', and for each job what `show` says of it.
begin()

local _, worker, requestId, limit, leaseMs = unpack(ARGV)
local queues = { select(6, unpack(ARGV)) }
limit = tonumber(limit)
local taken = {}
local MAX_PROMOTED, MAX_PAGE, MAX_DROPPED = 5000, 1000, 10000

-- What the worker was given stands with the records of it in one write, so that a repeat finds all or nothing.
local function rememberClaim()
  if #taken == 0 then return end
  local words = { requestId }
  for i = 1, #taken do
    words[#words + 1] = taken[i].id
    words[#words + 1] = leaseOf(taken[i]).token
  end
  claims = { '@' .. worker, concat(words, '\31') }
end

-- Those whose time has come go over to the ready ones.
local function promote(queue)
  local due = call('ZRANGEBYSCORE', P .. 'later:' .. queue, '-inf', text(now), 'LIMIT', 0, MAX_PROMOTED)
  local found = jobsOf(seqsOf(due))
  for i = 1, #due do
    if found[i] and found[i].place == 'w' then touch(found[i]) else put('later:' .. queue, due[i], false) end
  end
  flush()
end

-- Pages through an index: as many at first as are wanted, then more at a time, since there must be leftovers.
local function pager(read)
  local page, found, at, offset, size = {}, {}, 0, 0, limit - #taken
  return function()
    at = at + 1
    if at > #page then
      page = read(offset, offset + size - 1)
      found, at, offset, size = jobsOf(seqsOf(page)), 1, offset + #page, min(4 * size, MAX_PAGE)
    end
    return page[at], found[at], offset - #page + at
  end
end

-- The ready ones in their order. Leftovers are passed over, to be dropped.
local function readyReader(queue)
  local key = 'ready:' .. queue
  local nextMember = pager(function(from, to) return call('ZRANGE', P .. key, from, to) end)
  return function()
    for member, job in nextMember do
      if not (job and job.place == 'w' and job.queue == queue and readyMember(job) == member) then
        put(key, member, false)
      elseif not isBehind or runAtOf(job) <= now then
        return job
      end
    end
  end
end

-- The plain ones in their order, which is that of time: the first whose time has not come ends it.
local function fifoReader(queue)
  local nextSeq = pager(function(from, to) return call('LRANGE', P .. 'fifo:' .. queue, from, to) end)
  return function()
    for seq, job, place in nextSeq do
      if job and job.place == 'f' and job.queue == queue then
        job.fifoAt = place
        return (not isBehind or runAtOf(job) <= now) and job or nil
      end
      dropped[queue] = dropped[queue] or {}
      table.insert(dropped[queue], seq)
      popped[queue] = place
      if #dropped[queue] >= MAX_DROPPED then return nil end
    end
  end
end

-- Whether the ready job goes before the plain one, whose priority is 0.
local function isBefore(job, plain)
  local priority = number(job.fields.priority)
  if job.fields.returnedAt or priority < 0 then return true end
  if priority > 0 then return false end
  local a, b = runAtOf(job), runAtOf(plain)
  return a < b or (a == b and tonumber(job.seq) < tonumber(plain.seq))
end

local function lease(job, queue, ms)
  if job.place == 'f' then
    job.isPopped, popped[queue] = true, job.fifoAt
  end
  touch(job)
  lastToken = lastToken + 1
  local fields, token = job.fields, text(lastToken)
  job.place = 'r'
  fields.attempt = text(number(fields.attempt) + 1)
  fields.returnedAt, fields.progress = nil, nil
  setLease(job, {
    token = token, ms = ms, to = now + ms, claimedAt = text(now), startedAt = '-', pid = '-', cancelAskedAt = '-',
    pauseAskedAt = '-', worker = worker,
  })
  apply(job, 'claimed', { token = token, by = worker })
  taken[#taken + 1] = job
end

local function takeFrom(queue)
  local settings = settingsOf(queue)
  if settings.state ~= 'up' then return end
  rememberClaim()
  local soonest = call('ZRANGE', P .. 'running:' .. queue, 0, 0, 'WITHSCORES')
  if soonest[2] and tonumber(soonest[2]) <= now then overtake(queue, MAX_OVERTAKEN) end
  soonest = call('ZRANGE', P .. 'later:' .. queue, 0, 0, 'WITHSCORES')
  if soonest[2] and tonumber(soonest[2]) <= now then promote(queue) end
  local nextReady, nextPlain = readyReader(queue), fifoReader(queue)
  local ready, plain = nextReady(), nextPlain()
  local ms = tonumber(leaseMs) or settings.leaseMs
  while #taken < limit and (ready or plain) do
    if ready and (not plain or isBefore(ready, plain)) then
      lease(ready, queue, ms)
      ready = #taken < limit and nextReady()
    else
      lease(plain, queue, ms)
      plain = #taken < limit and nextPlain()
    end
  end
end

-- Answers the leases of the worker's latest request again, as far as they still hold.
local function again(last)
  local ids, tokens = {}, {}
  for id, token in gmatch(last, '\31([^\31]*)\31(%d+)') do
    ids[#ids + 1], tokens[#tokens + 1] = id, token
  end
  load(ids)
  for i = 1, #ids do
    if holds(jobs[ids[i]], tokens[i]) then taken[#taken + 1] = jobs[ids[i]] end
  end
end

local last = call('HGET', P .. 'j', '@' .. worker)
if last and match(last, '^[^\31]*') == requestId then
  again(last)
else
  for _, queue in ipairs(queues) do
    if #taken >= limit then break end
    takeFrom(queue)
  end
  rememberClaim()
end
flush()
publish()

local function nextAt()
  local soonest = math.huge
  for _, queue in ipairs(queues) do
    local settings = settingsOf(queue)
    if settings.state == 'up' then
      soonest = min(soonest, nextRunAt(queue))
      local lease = settings.onLost ~= 'hold' and call('ZRANGE', P .. 'running:' .. queue, 0, 0, 'WITHSCORES')[2]
      if lease then soonest = min(soonest, lease + settings.lostGraceMs) end
    end
  end
  return soonest == math.huge and '' or text(soonest)
end

local answer = { text(now), nextAt() }
for i = 1, #taken do show(answer, taken[i]) end
return answer
