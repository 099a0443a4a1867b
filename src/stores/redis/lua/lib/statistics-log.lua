-- statistics-log: reads the pending entries of the log (statistics.lua) and sums them.
--
-- A sum of entries has: `cells`, those concerned, in order, each with its parts (a part belongs to every cell of a group of
-- alike jobs and a day); `minutes`, the ends by queue and minute, in order; `storage`, the five sums by queue. Nothing here
-- writes.
--
-- Invariant: entries are added in their order, because the number of cells of a day is limited.
-- Most calls need none of this, so the functions are created by the first use. Returns a table of functions.
-- uses: histogram

local function openLog()
  local DAY_MS, MINUTE_MS, BATCH = 86400000, FASTPATH.SPANS[1].ms, 1000
  local known -- the pending entries that were read last: their count, texts and sum

  local function fieldNames(from, to)
    local names = {}
    for i = from, to do names[i - from + 1] = '+' .. i end
    return names
  end

  local function entries()
    local count = tonumber(call('HGET', P .. 'j', '+') or 0)
    if known and known.count == count then return known end
    known = { count = count }
    for from = 1, count, BATCH do
      local found = call('HMGET', P .. 'j', unpack(fieldNames(from, math.min(from + BATCH - 1, count))))
      for i = 1, #found do known[from + i - 1] = found[i] or '' end
    end
    return known
  end

  -- core/statistics/aggregate.ts, mergeAggregate: a spread is count, mean, sum of squared distances, and buckets.
  local function addSpread(spread, count, mean, m2)
    local total, distance = spread[1] + count, mean - spread[2]
    spread[3] = spread[3] + m2 + distance * distance * spread[1] * count / total
    spread[1], spread[2] = total, spread[2] + distance * count / total
  end

  -- Adds the waits or runs of an entry. Returns how many there are.
  local function readSpread(spread, words)
    local ms, buckets = tonumber(words), spread.buckets
    if ms then
      local bucket = bucketOf(ms)
      buckets[bucket] = (buckets[bucket] or 0) + 1
      addSpread(spread, 1, ms, 0)
      return 1
    end
    local count, first, sum, squares, list = words:match('^(%S+) (%S+) (%S+) ([^;]+)(.*)$')
    addSpread(spread, count, first + sum / count, math.max(0, squares - sum * sum / count))
    for bucket, times in list:gmatch(';(%d+)=(%d+)') do
      bucket = tonumber(bucket)
      buckets[bucket] = (buckets[bucket] or 0) + times
    end
    return tonumber(count)
  end

  local function newPart(queue, day, at)
    local part = { queue = queue, day = day, firstAt = at, lastAt = at, ends = { 0, 0, 0 } }
    part.w, part.r = { 0, 0, 0, buckets = {} }, { 0, 0, 0, buckets = {} }
    return part
  end

  -- Adds retries, failures and interruptions. Returns the failures.
  local function addEnds(part, words)
    local ends, retries, failures, interruptions = part.ends, words:match('^(%S+) (%S+) (%S+)$')
    ends[1], ends[2], ends[3] = ends[1] + retries, ends[2] + failures, ends[3] + interruptions
    return tonumber(failures)
  end

  local function concern(sum, part, name)
    local address = '#' .. part.queue .. '\31' .. ('%d'):format(part.day) .. '\31' .. name
    local cell = sum.byAddress[address]
    if not cell then
      cell = { address = address, queue = part.queue, day = part.day, name = name, parts = {} }
      sum.byAddress[address], sum.cells[#sum.cells + 1] = cell, cell
    end
    cell.parts[#cell.parts + 1] = part
  end

  -- The part of a group of alike jobs (queue, worker and tags) and a day. Its cells: the queue, the worker, each tag.
  local function partOf(sum, alike, day, at)
    local byDay = sum.parts[alike] or {}
    sum.parts[alike] = byDay
    local part = byDay[day]
    if part then return part end
    local queue, worker, tags = alike:match('^([^\31]*)\31([^\31]*)\31(.*)$')
    part = newPart(queue, day, at)
    byDay[day] = part
    concern(sum, part, 'q')
    concern(sum, part, 'w' .. worker)
    local seen = {}
    for tag in (tags ~= '' and tags .. '\30' or ''):gmatch('([^\30]*)\30') do
      if not seen[tag] then concern(sum, part, 't' .. tag) end
      seen[tag] = true
    end
    return part
  end

  local function seenAt(part, at)
    if at < part.firstAt then part.firstAt = at end
    if at > part.lastAt then part.lastAt = at end
  end

  local function addFailures(sum, queue, day, at, words)
    for name, ends in words:gmatch('\31([^\31]*)\31([^\31]*)') do
      local key = queue .. '\31' .. day .. '\31' .. name
      local part = sum.failures[key]
      if not part then
        part = newPart(queue, day, at)
        sum.failures[key] = part
        concern(sum, part, 'g' .. name)
      end
      seenAt(part, at)
      addEnds(part, ends)
    end
  end

  -- Ends in one minute of a queue; the latest one is usually that of the next entry too.
  local function countMinute(sum, queue, at, done, failed)
    local number, minute = math.floor(at / MINUTE_MS), sum.minute
    if not minute or minute.number ~= number or minute.queue ~= queue then
      local key = queue .. '\31' .. number
      minute = sum.byMinute[key]
      if not minute then
        minute = { queue = queue, number = number, at = at, done = 0, failed = 0 }
        sum.byMinute[key], sum.minutes[#sum.minutes + 1] = minute, minute
      end
      sum.minute = minute
    end
    minute.done, minute.failed = minute.done + done, minute.failed + failed
  end

  local function addStorage(sum, queue, words)
    local done, failed, cancelled, results, bytes = words:match('^(%S+) (%S+) (%S+) (%S+) (%S+)$')
    local sums = sum.storage[queue]
    if not sums then
      sums = { 0, 0, 0, 0, 0 }
      sum.storage[queue] = sums
    end
    sums[1], sums[2], sums[3] = sums[1] + done, sums[2] + failed, sums[3] + cancelled
    sums[4], sums[5] = sums[4] + results, sums[5] + bytes
  end

  local ENTRY = '^(([^\31]*)\31[^\31]*\31[^\31]*)\31([^\31]*)\31([^\31]*)\31([^\31]*)\31([^\31]*)\31([^\31]*)(.*)$'

  local function addEntry(sum, entry)
    local alike, queue, at, storage, waits, runs, ends, failures = entry:match(ENTRY)
    if not alike then return end -- aggregated already, see aggregate-log.lua
    if storage ~= '' then addStorage(sum, queue, storage) end
    if waits == '' and runs == '' and ends == '' then return end
    at = tonumber(at)
    local day, done, failed = math.floor(at / DAY_MS), 0, 0
    local part = partOf(sum, alike, day, at)
    seenAt(part, at)
    if waits ~= '' then readSpread(part.w, waits) end
    if runs ~= '' then done = readSpread(part.r, runs) end
    if ends ~= '' then failed = addEnds(part, ends) end
    if failures ~= '' then addFailures(sum, queue, day, at, failures) end
    if done + failed > 0 then countMinute(sum, queue, at, done, failed) end
  end

  -- Sums entries from one on, until there are more cells than allowed. Returns the sum, and the last entry in it.
  local function sumFrom(list, from, maxCells)
    local sum = { cells = {}, byAddress = {}, parts = {}, failures = {}, minutes = {}, byMinute = {}, storage = {} }
    for at = from, list.count do
      addEntry(sum, list[at])
      if #sum.cells > maxCells then return sum, at end
    end
    return sum, list.count
  end

  -- The sum of all pending entries.
  local function pending()
    local list = entries()
    if not list.sum then list.sum = sumFrom(list, 1, math.huge) end
    return list.sum
  end

  local function forget()
    known = nil
  end

  return { addSpread = addSpread, entries = entries, fieldNames = fieldNames, sumFrom = sumFrom, pending = pending, forget = forget }
end

