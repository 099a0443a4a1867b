-- prunable: what each queue stores of each kind and keeps of it; core/lifecycle/prunable.ts computes what would be pruned.
-- ARGV: clock, the queues; without any, all of them. Returns for each queue and kind: queue, kind, how many and how many
-- bytes there are, how many of them are too old, the number and the bytes that are kept or '', and the bytes of the oldest.
-- uses: values, clock, context, queue-settings, queues, record, retention, aggregates, storage
clock.readClock()

local answer = {}
local function tell(queue, kind, stock, count, bytes)
  local sizes = table.concat(stock.sizes or {}, ' ')
  local line = { queue, kind, text(stock.count), text(stock.bytes), stock.old, count or '', bytes or '', sizes }
  answer[#answer + 1] = table.concat(line, '\31')
end

local function ended(queue, state, bytes)
  local key = P .. state .. ':' .. queue
  local ms, mostCount, mostBytes = queueSettings.retentionOf(queue, state)
  local count = call('ZCARD', key)
  local old, sizes = ms and call('ZCOUNT', key, '-inf', '(' .. text(context.now - ms)) or 0, {}
  local isBeyond = (mostCount and count > mostCount) or (mostBytes and bytes > mostBytes)
  -- If nothing would be pruned, nothing is read.
  local members = (old > 0 or isBeyond) and call('ZRANGE', key, 0, K.MAX_PRUNABLE_SCAN - 1) or {}
  for _, job in ipairs(record.bySeqs(record.seqsOf(members))) do
    if job then sizes[#sizes + 1] = (storage.storedBytes(job)) end
  end
  return { count = count, bytes = bytes, old = old, sizes = sizes }
end

local function results(queue, sums)
  local ms, count, bytes = queueSettings.retentionOf(queue, 'results')
  local old, sizes = 0, {}
  for i, job in ipairs((ms or count or bytes) and retention.jobsWithResult(queue, '-inf', K.MAX_PRUNABLE_SCAN) or {}) do
    if ms and tonumber(job.fields.endedAt) < context.now - ms then old = i end
    sizes[i] = select(2, storage.storedBytes(job))
  end
  return { count = sums[4], bytes = sums[5], old = old, sizes = sizes }
end

-- How many cells a queue has up to a day, and the sizes of at most `limit` of them.
local function oldCells(queue, last, limit)
  local index, head, sizes, isSeen = P .. 'cells:' .. queue, '#' .. queue .. '\31', {}, {}
  local count, words, merged = call('ZCOUNT', index, '-inf', last), aggregates().pendingCells()
  for i, member in ipairs(call('ZRANGEBYSCORE', index, '-inf', last, 'LIMIT', 0, limit)) do
    local own = words[head .. member]
    sizes[i] = own and #own or call('HSTRLEN', P .. 'j', head .. member)
    isSeen[head .. member] = true
  end
  for i = 1, #merged do
    local cell = merged[i].cell
    local isOld = cell.queue == queue and tonumber(cell.day) <= tonumber(last)
    if isOld and not isSeen[cell.address] and not call('ZSCORE', index, cell.day .. '\31' .. cell.name) then
      count = count + 1
      if #sizes < limit then sizes[#sizes + 1] = #merged[i].words end
    end
  end
  return count, sizes
end

local function statistics(queue)
  local before = math.floor(context.now / 86400000) - queueSettings.settingsOf(queue).statsDays
  local old, sizes = oldCells(queue, before, K.MAX_PRUNABLE_SCAN)
  return { count = old, bytes = 9e15, old = old, sizes = sizes }
end

for _, queue in ipairs(#args > 1 and { select(2, unpack(args)) } or queues.sortedNames()) do
  local sums = aggregates().storage(queue)
  local drafts = call('ZCOUNT', P .. 'draft:' .. queue, '-inf', '(' .. text(context.now - K.DRAFT_TTL_MS))
  tell(queue, 'draft', { count = drafts, bytes = 0, old = drafts })
  for i, state in ipairs({ 'done', 'failed', 'cancelled' }) do
    tell(queue, state, ended(queue, state, sums[i]), select(2, queueSettings.retentionOf(queue, state)))
  end
  tell(queue, 'results', results(queue, sums), select(2, queueSettings.retentionOf(queue, 'results')))
  tell(queue, 'statistics', statistics(queue))
end
return table.concat(answer, '\30')
