-- tally: what a call counts for the statistics (core/statistics/statistics.ts, core/statistics/aggregate.ts, restated), put after the ground.
--
-- A cell stands in the hash of the jobs, at #<queue> \31 <day> \31 <letter of its kind><name>, so that it is written in
-- the one HSET of the records: what is counted and what is in the history cannot differ. It is eleven doubles, because
-- to write and read them as text takes longer than all the rest; then, while it has them, `;` and its buckets. Cells stand in the zset
-- cells:<queue> by day, and while they have their histograms in buckets:<queue>, both before they are written.
--
-- What happened is first gathered by queue, worker and tags, which in most calls is one heap; then every cell of a heap
-- is read and written once, however many jobs there were. The sums of what a queue keeps (`$<queue>`) go the same way,
-- and so do the pages of its throughput over time: %<queue> \31 <letter of the span><slot>, the number of the page as a double,
-- then done and failed of each of its cells in four bytes each.

local tally
tally = {
  DAY_MS = 86400000, SMALL = { 1, 2, 5, 10, 20, 50, 100, 200, 500 },
  heaps = {}, order = {}, latest = false, -- what was gathered, by address and in order; the one added to last
  kept = false, -- queue → what enters and leaves what it keeps

  heap = function(queue, worker, tags)
    local latest = tally.latest
    if latest and latest.queue == queue and latest.worker == worker and latest.tags == tags then return latest end
    local address = queue .. '\31' .. worker .. '\31' .. tags
    local heap = tally.heaps[address]
    if not heap then
      heap = { queue = queue, worker = worker, tags = tags, retries = 0, failures = 0, interruptions = 0 }
      tally.heaps[address], tally.order[#tally.order + 1] = heap, heap
    end
    tally.latest = heap
    return heap
  end,

  -- What is gathered from here on is added after all that was gathered before.
  part = function()
    tally.heaps, tally.latest = {}, false
  end,

  -- A failure of this group that leaves a retry.
  retry = function(heap, group)
    heap.retries, heap.groups = heap.retries + 1, heap.groups or {}
    local ends = heap.groups[group] or { failures = 0, retries = 0, interruptions = 0 }
    heap.groups[group], ends.retries = ends, ends.retries + 1
  end,

  clear = function()
    tally.heaps, tally.order, tally.latest, tally.kept = {}, {}, false, false
  end,

  -- An ended job enters (sign 1) or leaves (-1) what its queue keeps: core/statistics/storage.ts. `result` is nil without one.
  keep = function(queue, place, bytes, result, sign)
    local kept = tally.kept or {}
    tally.kept = kept
    local sums = kept[queue]
    if not sums then
      sums = { 0, 0, 0, 0, 0 }
      kept[queue] = sums
    end
    local at = place == 'd' and 1 or place == 'x' and 2 or 3
    sums[at] = sums[at] + sign * bytes
    if result and at == 1 then sums[4], sums[5] = sums[4] + sign, sums[5] + sign * result end
  end,

  -- The sums of every queue that is concerned, read and put with what is about to be written.
  flushKept = function(set)
    for queue, sums in pairs(tally.kept) do
      local known = call('HGET', P .. 'j', '$' .. queue)
      if known then
        local a, b, c, d, e = struct.unpack('>ddddd', known)
        sums = { sums[1] + a, sums[2] + b, sums[3] + c, sums[4] + d, sums[5] + e }
      end
      set[#set + 1] = '$' .. queue
      set[#set + 1] = struct.pack('>ddddd', unpack(sums))
    end
    tally.kept = false
  end,

  -- core/statistics/histogram.ts
  bucket = function(ms)
    if ms < 1000 then
      local SMALL, bucket = tally.SMALL, 0
      while bucket < 9 and ms >= SMALL[bucket + 1] do bucket = bucket + 1 end
      return bucket
    end
    if ms < 60000 then return 9 + math.floor(ms / 1000) end
    if ms < 3600000 then return 68 + math.floor(ms / 60000) end
    if ms < 86400000 then return 124 + math.floor(ms / 900000) end
    if ms < 259200000 then return 196 + math.floor(ms / 3600000) end
    return 265 + math.min(365, math.floor(ms / 86400000))
  end,

  -- A duration into the wait (w) or the run (r) of a heap. Sums go by the distance from the first one, which is as
  -- small as they are apart.
  add = function(heap, letter, ms)
    if ms < 0 then ms = 0 end
    local spread = heap[letter]
    if not spread then
      spread = { count = 0, first = ms, sum = 0, squares = 0, buckets = {} }
      heap[letter] = spread
    end
    local distance, key = ms - spread.first, tally.bucket(ms)
    spread.count, spread.sum = spread.count + 1, spread.sum + distance
    spread.squares = spread.squares + distance * distance
    spread.buckets[key] = (spread.buckets[key] or 0) + 1
  end,

  -- The names of a heap's cells without what they share: letter and name.
  names = function(heap)
    local names = { 'q', 'w' .. heap.worker }
    if heap.tags ~= '' then
      local seen = {}
      for tag in (heap.tags .. '\30'):gmatch('([^\30]*)\30') do
        if not seen[tag] then seen[tag], names[#names + 1] = true, 't' .. tag end
      end
    end
    return names
  end,

  -- Adds a spread to the three numbers of a cell that begin at `at`, and its buckets to the text of them.
  merge = function(figures, at, spread, letter)
    local count, mean = figures[at], figures[at + 1]
    local n, own = spread.count, spread.first + spread.sum / spread.count
    local total, distance = count + n, own - mean
    figures[at], figures[at + 1] = total, mean + distance * n / total
    figures[at + 2] = figures[at + 2] + math.max(0, spread.squares - spread.sum * spread.sum / n)
      + distance * distance * count * n / total
    local buckets = figures.buckets
    if not buckets then return end
    for bucket, times in pairs(spread.buckets) do
      local key = ' ' .. letter .. bucket .. '='
      local from, to = buckets:find(key, 1, true)
      if from then
        local known = buckets:match('^%d+', to + 1)
        buckets = buckets:sub(1, to) .. ('%d'):format(known + times) .. buckets:sub(to + 1 + #known)
      else
        buckets = buckets .. key .. times
      end
    end
    figures.buckets = buckets
  end,

  read = function(words, now)
    if not words then return { 0, 0, 0, 0, 0, 0, 0, 0, 0, now, now, buckets = '' } end
    local figures = { struct.unpack('>ddddddddddd', words) }
    figures.buckets = #words > 88 and words:sub(90)
    return figures
  end,

  write = function(figures)
    local numbers = struct.pack('>ddddddddddd', unpack(figures, 1, 11))
    return figures.buckets and numbers .. ';' .. figures.buckets or numbers
  end,

  -- Every cell that is concerned, each with the heaps that go into it.
  concerned = function(day)
    local cells, list = {}, {}
    local function concern(queue, name, heap)
      local address = '#' .. queue .. '\31' .. day .. '\31' .. name
      local cell = cells[address]
      if not cell then
        cell = { address = address, queue = queue, name = name, heaps = {} }
        cells[address], list[#list + 1] = cell, cell
      end
      cell.heaps[#cell.heaps + 1] = heap
    end
    for i = 1, #tally.order do
      local heap = tally.order[i]
      local names = tally.names(heap)
      for j = 1, #names do concern(heap.queue, names[j], heap) end
      for group, ends in pairs(heap.groups or {}) do concern(heap.queue, 'g' .. group, ends) end
    end
    return list
  end,

  -- A cell that is not there yet: whether there is room for it. It stands in the indexes first.
  enter = function(cell, day)
    local isWhole = cell.name == 'q'
    if not isWhole and call('ZCOUNT', P .. 'cells:' .. cell.queue, day, day) >= FASTPATH.MAX_CELLS then return false end
    local member = day .. '\31' .. cell.name
    write('ZADD', P .. 'cells:' .. cell.queue, day, member)
    write('ZADD', P .. 'buckets:' .. cell.queue, day, member)
    return true
  end,

  -- The pages of throughput (core/statistics/series.ts) that are counted in: one a span for each queue of which something ended.
  pages = function(now)
    local ends, list = {}, {}
    for i = 1, #tally.order do
      local heap = tally.order[i]
      local done = heap.r and heap.r.count or 0
      if done + heap.failures > 0 then
        local sums = ends[heap.queue] or { 0, 0 }
        ends[heap.queue], sums[1], sums[2] = sums, sums[1] + done, sums[2] + heap.failures
      end
    end
    for queue, sums in pairs(ends) do
      for i = 1, 2 do
        local span = FASTPATH.SPANS[i]
        local cell = math.floor(now / span.ms)
        local page = math.floor(cell / span.cells)
        list[#list + 1] = {
          address = '%' .. queue .. '\31' .. span.letter .. page % span.slots,
          page = page, cells = span.cells, at = 9 + 8 * (cell % span.cells), done = sums[1], failed = sums[2],
        }
      end
    end
    return list
  end,

  -- A page with more ends in it; nil where a later one stands in its slot.
  count = function(words, page)
    local known = words and struct.unpack('>d', words) or -1
    if known > page.page then return nil end
    if known < page.page then words = struct.pack('>d', page.page) .. ('\0'):rep(8 * page.cells) end
    local at, done, failed = page.at, struct.unpack('>I4I4', words, page.at)
    return words:sub(1, at - 1) .. struct.pack('>I4I4', done + page.done, failed + page.failed) .. words:sub(at + 8)
  end,

  -- Adds what was gathered to the cells and puts them into `set`, which is about to be written with the records.
  flush = function(set, now)
    if tally.kept then tally.flushKept(set) end
    if #tally.order == 0 then return end
    local day = ('%d'):format(math.floor(now / tally.DAY_MS))
    local cells, addresses = tally.concerned(day), {}
    for i = 1, #cells do addresses[i] = cells[i].address end
    local pages = tally.pages(now)
    for i = 1, #pages do addresses[#cells + i] = pages[i].address end
    local known = call('HMGET', P .. 'j', unpack(addresses))
    for i = 1, #cells do
      local cell = cells[i]
      if known[i] or tally.enter(cell, day) then
        local figures, heaps = tally.read(known[i], now), cell.heaps
        for j = 1, #heaps do
          local heap = heaps[j]
          if heap.w then tally.merge(figures, 1, heap.w, 'w') end
          if heap.r then tally.merge(figures, 4, heap.r, 'r') end
          figures[7], figures[8], figures[9] =
            figures[7] + heap.retries, figures[8] + heap.failures, figures[9] + heap.interruptions
        end
        figures[10], figures[11] = math.min(figures[10], now), math.max(figures[11], now)
        set[#set + 1] = cell.address
        set[#set + 1] = tally.write(figures)
      end
    end
    for i = 1, #pages do
      local words = tally.count(known[#cells + i], pages[i])
      if words then set[#set + 1], set[#set + 2] = pages[i].address, words end
    end
    tally.clear()
  end,
}

