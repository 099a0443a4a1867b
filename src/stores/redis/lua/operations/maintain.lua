-- maintain: expires leases and drafts, prunes ended jobs, results, logs and statistics beyond their retention, and removes leftovers.
-- ARGV: clock, limit. Returns how many leases and drafts expired, how many jobs and results were pruned, how many workers were
-- deleted, and yes or no for more.
-- uses: values, context, events, job-writes, lifecycle, operation, queue-settings, queues, record, record-changes
-- uses: aggregate-log, aggregates, retention, storage, unit-of-work
-- on demand: log-removal, lost-leases, removal, unique-keys
operation.begin()

local limit = tonumber(args[2])
local budget = limit
local names = queues.sortedNames()
local SWEPT = 100 -- leftovers of each kind in one call

local function remove(members, key)
  local found, count = record.bySeqs(record.seqsOf(members)), 0
  for i = 1, #members do
    -- A job that waited for a deleted one may have failed meanwhile: then it is kept as a failed job.
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
  local old, before = {}, '(' .. text(context.now - K.DRAFT_TTL_MS)
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

-- Returns the oldest members whose bytes exceed what is kept.
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

-- Returns jobs that ended too long ago; if there are none, those beyond the count; then those beyond the bytes.
local PLACE = { done = 1, failed = 2, cancelled = 3 }
local function surplus(queue, state, key)
  local ms, count, bytes = queueSettings.retentionOf(queue, state)
  local found = {}
  if ms then found = call('ZRANGEBYSCORE', P .. key, '-inf', '(' .. text(context.now - ms), 'LIMIT', 0, budget) end
  if #found > 0 then return found end
  local beyond = count and math.min(budget, call('ZCARD', P .. key) - count) or 0
  if beyond > 0 then return call('ZRANGE', P .. key, 0, beyond - 1) end
  return bytes and tooLarge(key, aggregates().storage(queue)[PLACE[state]] - bytes) or {}
end

local function prune(queue)
  local count = 0
  for _, state in ipairs({ 'done', 'failed', 'cancelled' }) do
    if budget > 0 then
      local key = state .. ':' .. queue
      local removed = remove(surplus(queue, state, key), key)
      -- Dependents may have failed, and exceed the count of failed jobs.
      if context.edges then unitOfWork.flush() end
      budget = budget - removed
      count = count + removed
    end
  end
  return count
end

-- Prunes results before their jobs. Results before the stored time were pruned, unless the clock went back.
local function pruneResults(queue)
  local ms, count, bytes = queueSettings.retentionOf(queue, 'results')
  local sums = (ms or count or bytes) and aggregates().storage(queue)
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
    if to + K.WORKER_TTL_MS <= context.now then
      write('HDEL', P .. 'j', '@' .. workers[i])
      write('HDEL', P .. 'workers', workers[i])
      gone = gone + 1
    end
  end
  return gone
end

-- Deletes the last claim of an unregistered worker after its time to live.
local function forgetUnregisteredWorker(worker, address)
  local claim = call('HGET', P .. 'j', '@' .. worker)
  local at = tonumber(claim and claim:match('^[^\30\31]*\30(%d+)')) or 0
  if call('HEXISTS', P .. 'workers', worker) == 1 then at = context.now end
  if at + K.UNREGISTERED_WORKER_TTL_MS > context.now then
    write('ZADD', P .. 'expiring', text(at + K.UNREGISTERED_WORKER_EXPIRY_MS), address)
  else
    write('HDEL', P .. 'j', '@' .. worker)
    write('ZREM', P .. 'expiring', address)
  end
end

-- Deletes keys and records that expired a day ago. Settings of a queue apply even if their record has expired.
local function sweepExpired()
  local before = text(context.now - K.WORKER_TTL_MS)
  for _, address in ipairs(call('ZRANGEBYSCORE', P .. 'periods', '-inf', before, 'LIMIT', 0, SWEPT)) do
    if not require('unique-keys').holder(address) then write('HDEL', P .. 'keys', address) end
    write('ZREM', P .. 'periods', address)
  end
  for _, address in ipairs(call('ZRANGEBYSCORE', P .. 'expiring', '-inf', before, 'LIMIT', 0, SWEPT)) do
    local kind, key = address:match('^([^\31]*)\31(.*)$')
    if kind == '@' then
      forgetUnregisteredWorker(key, address)
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

-- Deletes buckets of throttles that are full and open.
local function forgetBuckets()
  local idle = call('ZRANGEBYSCORE', P .. 'bucket-ends', '-inf', context.nowText, 'LIMIT', 0, limit)
  local fields = {}
  for i = 1, #idle do fields[i] = '!' .. idle[i] end
  jobWrites.writeMany('HDEL', 'j', fields)
  jobWrites.writeMany('ZREM', 'bucket-ends', idle)
end

-- Removes jobs that left a fifo from its middle, as soon as they are at the head.
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

-- Deletes statistics and histograms beyond their retention.
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

aggregateLog()
local expired, pruned, drafts = 0, 0, 0
for _, queue in ipairs(names) do
  local count = budget > 0 and require('lost-leases').expireLeases(queue, budget) or 0
  expired, budget = expired + count, budget - count
end
if context.closed then
  events.publish()
  return table.concat({ text(expired), '0 0 0 0', budget <= 0 and 'yes' or 'no' }, ' ')
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
for _, queue in ipairs(call('HKEYS', P .. 'log-bytes')) do require('log-removal').prune(queue, limit) end
for _, queue in ipairs(names) do forgetStatistics(queue) end
unitOfWork.flush()
forgetBuckets()
local forgotten = forgetWorkers()
sweepExpired()
events.publish()
local more = (budget <= 0 or context.stepFrom) and 'yes' or 'no'
return table.concat({ text(expired), text(drafts), text(pruned), text(results), text(forgotten), more }, ' ')
