-- statistics: what a call measures, appended to the log of statistics (core/statistics/statistics.ts, restated).
--
-- The log is in the hash of the jobs: `+` is the number of pending entries, `+1` and so on are the entries. So one HSET
-- carries records and entries, and what is counted and what is in the history cannot differ. A call appends one entry per
-- group of alike jobs (queue, worker, tags); it reads and writes no cell. aggregate-log.lua adds the entries to the cells.
--
-- An entry: queue \31 worker \31 tags \31 time \31 storage \31 waits \31 runs \31 ends { \31 failure group \31 ends }
--   storage      the five sums of core/statistics/storage.ts, or nothing
--   waits, runs  nothing; one duration; or count, first, sum and squares of the distances from the first, and `;bucket=count` of each
--   ends         retries, failures and interruptions, or nothing
-- An entry without waits, runs and ends concerns the storage alone.
-- uses: histogram

local function addEnds(sums, ends)
  for i = 1, 3 do sums[i] = sums[i] + ends[i] end
end

local statistics
statistics = {
  groups = {}, order = {}, latest = false, -- groups of alike jobs by address and in order; the group that was used last
  storage = {}, storageOrder = {}, -- queue → changes of the five sums; the queues in order
  pending = nil, -- the number of pending entries as text, or false, if the caller has read it
  isLogLong = false, -- whether there are so many entries that the client must have them aggregated

  -- Returns the group of jobs that are counted together.
  group = function(queue, worker, tags)
    local latest = statistics.latest
    if latest and latest.queue == queue and latest.worker == worker and latest.tags == tags then return latest end
    local address = queue .. '\31' .. worker .. '\31' .. tags
    local group = statistics.groups[address]
    if not group then
      group = { queue = queue, worker = worker, tags = tags, spreads = {} }
      statistics.groups[address], statistics.order[#statistics.order + 1] = group, group
    end
    statistics.latest = group
    return group
  end,

  -- What is measured from here on gets entries of its own.
  part = function()
    statistics.groups, statistics.latest = {}, false
  end,

  -- Drops what was measured: it was written.
  clear = function()
    statistics.groups, statistics.order, statistics.latest = {}, {}, false
    statistics.storage, statistics.storageOrder, statistics.pending = {}, {}, nil
  end,

  -- Adds an ended job to the storage of its queue (sign 1) or removes it (-1): core/statistics/storage.ts. `result` is nil without one.
  store = function(queue, place, bytes, result, sign)
    local sums = statistics.storage[queue]
    if not sums then
      sums = { 0, 0, 0, 0, 0 }
      statistics.storage[queue], statistics.storageOrder[#statistics.storageOrder + 1] = sums, queue
    end
    local at = place == 'd' and 1 or place == 'x' and 2 or 3
    sums[at] = sums[at] + sign * bytes
    if result and at == 1 then sums[4], sums[5] = sums[4] + sign, sums[5] + sign * result end
  end,

  -- Adds a duration to the waits (w) or runs (r) of a group. Sums are of the distance from the first duration, which is
  -- small where the durations are alike. A spread is made for the second duration: most groups have only one.
  measure = function(group, letter, ms)
    if ms < 0 then ms = 0 end
    local first, spread = group[letter], group.spreads[letter]
    if not first then
      group[letter] = ms
      return
    end
    if not spread then
      spread = { count = 1, sum = 0, squares = 0, buckets = { [bucketOf(first)] = 1 } }
      group.spreads[letter] = spread
    end
    local distance, bucket, buckets = ms - first, bucketOf(ms), spread.buckets
    spread.count, spread.sum = spread.count + 1, spread.sum + distance
    spread.squares = spread.squares + distance * distance
    buckets[bucket] = (buckets[bucket] or 0) + 1
  end,

  -- Counts how an attempt ended without success: retries, failures, interruptions; in its failure group too, if there is one.
  countEnd = function(group, ends, failureGroup)
    if ends[1] + ends[2] + ends[3] == 0 then return end
    group.ends = group.ends or { 0, 0, 0 }
    addEnds(group.ends, ends)
    if not failureGroup then return end
    local failures = group.failures or { order = {} }
    group.failures = failures
    if not failures[failureGroup] then
      failures.order[#failures.order + 1], failures[failureGroup] = failureGroup, { 0, 0, 0 }
    end
    addEnds(failures[failureGroup], ends)
  end,

  -- A number as text. %d is several times faster than %.17g.
  text = function(n)
    if n % 1 == 0 and n < 1e15 and n > -1e15 then return ('%d'):format(n) end
    return ('%.17g'):format(n)
  end,

  spreadText = function(first, spread)
    local text = statistics.text
    if not spread then return first and text(first) or '' end
    local parts = { text(spread.count) .. ' ' .. text(first) .. ' ' .. text(spread.sum) .. ' ' .. text(spread.squares) }
    for bucket, count in pairs(spread.buckets) do parts[#parts + 1] = ('%d=%d'):format(bucket, count) end
    return table.concat(parts, ';')
  end,

  entryText = function(group, nowText, storage)
    local spreadText, spreads, ends, failures = statistics.spreadText, group.spreads, group.ends, group.failures
    local entry = group.queue .. '\31' .. group.worker .. '\31' .. group.tags .. '\31' .. nowText .. '\31'
      .. (storage and ('%d %d %d %d %d'):format(unpack(storage)) or '') .. '\31' .. spreadText(group.w, spreads.w) .. '\31'
      .. spreadText(group.r, spreads.r) .. '\31' .. (ends and table.concat(ends, ' ') or '')
    for i = 1, failures and #failures.order or 0 do
      local name = failures.order[i]
      entry = entry .. '\31' .. name .. '\31' .. table.concat(failures[name], ' ')
    end
    return entry
  end,

  -- Adds the entries of this call to `set`, the fields and values of the HSET that writes its records. Storage is in the first
  -- entry of its queue.
  append = function(set, nowText)
    local order, storage, storageOrder = statistics.order, statistics.storage, statistics.storageOrder
    if #order == 0 and #storageOrder == 0 then return end
    local pending = statistics.pending
    if pending == nil then pending = call('HGET', P .. 'j', '+') end
    local count, n = tonumber(pending or 0), #set
    local function add(group, sums)
      count = count + 1
      set[n + 1], set[n + 2] = ('+%d'):format(count), statistics.entryText(group, nowText, sums)
      n = n + 2
    end
    for i = 1, #order do
      local group = order[i]
      local sums = storage[group.queue]
      if sums or group.w or group.r or group.ends then add(group, sums) end
      storage[group.queue] = nil
    end
    for i = 1, #storageOrder do
      local queue = storageOrder[i]
      if storage[queue] then add({ queue = queue, worker = '', tags = '', spreads = {} }, storage[queue]) end
    end
    set[n + 1], set[n + 2] = '+', ('%d'):format(count)
    statistics.clear()
    statistics.isLogLong = count > FASTPATH.MAX_LOG_ENTRIES
  end,
}

