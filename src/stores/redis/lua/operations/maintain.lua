-- maintain: lost leases come back, old drafts expire, ended jobs beyond their retention go, and old statistics; and leftovers are swept.
-- ARGV: clock, limit. Returns how many were overtaken, expired, pruned, how many results and workers were forgotten, and yes or no for more.
-- uses: values, context, events, job-writes, lifecycle, operation, queue-settings, queues, record, record-changes
-- uses: retention, statistics-reads, storage, unit-of-work
-- on demand: lost-leases, removal, unique-keys
operation.begin()

local limit = tonumber(args[2])
local budget = limit
local names = queues.sortedNames()
local SWEPT = 100 -- of each kind of leftover in one call

local function remove(members, key)
  local found, count = record.bySeqs(record.seqsOf(members)), 0
  for i = 1, #members do
    -- One that waited for another of them has failed with it, and is kept as a failed one is.
    if found[i] and not found[i].isDeleted and STATE[found[i].place] == key:match('^%a+') then
      require('removal').removeWithKey(found[i])
      count = count + 1
    else
      unitOfWork.drop(key, members[i])
    end
  end
  return count
end

local function expireDrafts()
  local old, before = {}, '(' .. text(context.now - K.DRAFT_LIFE_MS)
  for _, queue in ipairs(names) do
    local members = call('ZRANGEBYSCORE', P .. 'draft:' .. queue, '-inf', before, 'WITHSCORES', 'LIMIT', 0, budget)
    for i = 1, #members, 2 do old[#old + 1] = { members[i], tonumber(members[i + 1]), 'draft:' .. queue } end
  end
  table.sort(old, function(a, b)
    if a[2] ~= b[2] then return a[2] < b[2] end
    return tonumber(a[1], 16) < tonumber(b[1], 16)
  end)
  local count = 0
  for i = 1, math.min(budget, #old) do count = count + remove({ old[i][1] }, old[i][3]) end
  return count
end

-- The oldest that make up what is beyond the bytes that are kept.
local function tooLarge(key, excess)
  if excess <= 0 then return {} end
  local members, left = call('ZRANGE', P .. key, 0, budget - 1), {}
  local found = record.bySeqs(record.seqsOf(members))
  for i = 1, #members do
    if excess <= 0 then return left end
    left[i] = members[i]
    if found[i] then excess = excess - storage.storedBytes(found[i]) end
  end
  return left
end

-- Those that ended too long ago; where there are none, those beyond the number that is kept; then those beyond the bytes.
local PLACE = { done = 1, failed = 2, cancelled = 3 }
local function surplus(queue, state, key)
  local ms, count, bytes = queueSettings.retentionOf(queue, state)
  local found = {}
  if ms then found = call('ZRANGEBYSCORE', P .. key, '-inf', '(' .. text(context.now - ms), 'LIMIT', 0, budget) end
  if #found > 0 then return found end
  local beyond = count and math.min(budget, call('ZCARD', P .. key) - count) or 0
  if beyond > 0 then return call('ZRANGE', P .. key, 0, beyond - 1) end
  return bytes and tooLarge(key, statisticsReads.kept(queue)[PLACE[state]] - bytes) or {}
end

local function prune(queue)
  local count = 0
  for _, state in ipairs({ 'done', 'failed', 'cancelled' }) do
    if budget > 0 then
      local key = state .. ':' .. queue
      local removed = remove(surplus(queue, state, key), key)
      -- Those who waited for them have failed, and may be too many now.
      if context.edges then unitOfWork.flush() end
      budget = budget - removed
      count = count + removed
    end
  end
  return count
end

-- Results that go before their jobs. Those before the mark have gone; whoever set the clock back has some there.
local function pruneResults(queue)
  local ms, count, bytes = queueSettings.retentionOf(queue, 'results')
  local sums = (ms or count or bytes) and statisticsReads.kept(queue)
  if not sums or sums[4] <= 0 then return 0 end
  local from = number(call('HGET', P .. 'results', queue))
  local taken = 0
  for _, job in ipairs(retention.jobsWithResult(queue, from > context.now and 0 or from, budget)) do
    local isOld = ms and tonumber(job.fields.endedAt) < context.now - ms
    local isMany = (count and sums[4] > count) or (bytes and sums[5] > bytes)
    if not isOld and not isMany then break end
    local _, size = storage.storedBytes(job)
    sums[4], sums[5], taken, from = sums[4] - 1, sums[5] - size, taken + 1, tonumber(job.fields.endedAt)
    unitOfWork.touch(job)
    recordChanges.setText(job, 'r', nil)
    lifecycle.appendRow(job, 'changed', nil, nil, K.RESULT_PRUNED)
  end
  if taken == 0 then return 0 end
  unitOfWork.flush()
  write('HSET', P .. 'results', queue, text(from))
  return taken
end

local function forgetWorkers()
  local gone, workers = 0, call('HGETALL', P .. 'workers')
  for i = 1, #workers, 2 do
    local to = workers[i + 1]:match('^[^\31]*\31[^\31]*\31([^\31]*)')
    if to + K.WORKER_MEMORY_MS <= context.now then
      write('HDEL', P .. 'j', '@' .. workers[i])
      write('HDEL', P .. 'workers', workers[i])
      gone = gone + 1
    end
  end
  return gone
end

-- What a worker was given last stays while it is registered, and for long enough after it was given.
local function forgetStranger(worker, address)
  local claim = call('HGET', P .. 'j', '@' .. worker)
  local at = tonumber(claim and claim:match('^[^\30\31]*\30(%d+)')) or 0
  if call('HEXISTS', P .. 'workers', worker) == 1 then at = context.now end
  if at + K.STRANGER_MEMORY_MS > context.now then
    write('ZADD', P .. 'expiring', text(at + K.STRANGER_EXPIRY_MS), address)
  else
    write('HDEL', P .. 'j', '@' .. worker)
    write('ZREM', P .. 'expiring', address)
  end
end

-- Keys and records that ended by time a day ago. A queue's settings hold even when their record has expired.
local function sweepExpired()
  local before = text(context.now - K.WORKER_MEMORY_MS)
  for _, address in ipairs(call('ZRANGEBYSCORE', P .. 'periods', '-inf', before, 'LIMIT', 0, SWEPT)) do
    if not require('unique-keys').holder(address) then write('HDEL', P .. 'keys', address) end
    write('ZREM', P .. 'periods', address)
  end
  for _, address in ipairs(call('ZRANGEBYSCORE', P .. 'expiring', '-inf', before, 'LIMIT', 0, SWEPT)) do
    local kind, key = address:match('^([^\31]*)\31(.*)$')
    if kind == '@' then
      forgetStranger(key, address)
    else
      local stored = call('HGET', P .. 'records:' .. kind, key)
      if kind ~= 'queue' and stored and not record.isUnexpired(stored) then
        write('HDEL', P .. 'records:' .. kind, key)
        write('ZREM', P .. 'names:' .. kind, key)
      end
      write('ZREM', P .. 'expiring', address)
    end
  end
end

-- What left a fifo from its middle stands there until it comes to the head.
local function sweepFifo(queue)
  local count = call('SCARD', P .. 'gone:' .. queue)
  if count == 0 then return end
  if count == call('LLEN', P .. 'fifo:' .. queue) then
    write('DEL', P .. 'fifo:' .. queue, P .. 'gone:' .. queue)
    return
  end
  for place, seq in ipairs(call('LRANGE', P .. 'fifo:' .. queue, 0, SWEPT - 1)) do
    if call('SISMEMBER', P .. 'gone:' .. queue, seq) == 0 then return end
    unitOfWork.pop(queue, place, seq)
  end
end

-- Statistics, and their histograms, that are older than they are kept.
local function forgetStatistics(queue)
  local settings, today = queueSettings.settingsOf(queue), math.floor(context.now / 86400000)
  local cells, buckets, home = 'cells:' .. queue, 'buckets:' .. queue, '#' .. queue .. '\31'
  local old = call('ZRANGEBYSCORE', P .. cells, '-inf', text(today - settings.statsDays), 'LIMIT', 0, limit)
  local fields, shed = {}, {}
  for i = 1, #old do fields[i] = home .. old[i] end
  jobWrites.writeMany('HDEL', 'j', fields)
  jobWrites.writeMany('ZREM', buckets, old)
  jobWrites.writeMany('ZREM', cells, old)
  local stale = call('ZRANGEBYSCORE', P .. buckets, '-inf', text(today - settings.histogramDays), 'LIMIT', 0, limit)
  for i = 1, #stale do
    local figures = call('HGET', P .. 'j', home .. stale[i])
    if figures then
      shed[#shed + 1] = home .. stale[i]
      shed[#shed + 1] = figures:sub(1, 88)
    end
  end
  jobWrites.writeMany('HSET', 'j', shed)
  jobWrites.writeMany('ZREM', buckets, stale)
end

local overtaken, pruned, drafts = 0, 0, 0
for _, queue in ipairs(names) do
  local count = budget > 0 and require('lost-leases').expireLeases(queue, budget) or 0
  overtaken, budget = overtaken + count, budget - count
end
if context.closed then
  events.publish()
  return table.concat({ text(overtaken), '0 0 0 0', budget <= 0 and 'yes' or 'no' }, ' ')
end
if budget > 0 then drafts = expireDrafts() end
if context.edges then unitOfWork.flush() end
budget = budget - drafts
for _, queue in ipairs(names) do
  if budget > 0 then pruned = pruned + prune(queue) end
  sweepFifo(queue)
end
unitOfWork.flush()
local results = 0
for _, queue in ipairs(names) do
  local taken = budget > 0 and pruneResults(queue) or 0
  results, budget = results + taken, budget - taken
end
for _, queue in ipairs(names) do forgetStatistics(queue) end
unitOfWork.flush()
local forgotten = forgetWorkers()
sweepExpired()
events.publish()
return table.concat({ text(overtaken), text(drafts), text(pruned), text(results), text(forgotten), (budget <= 0 or context.stepFrom) and 'yes' or 'no' }, ' ')
