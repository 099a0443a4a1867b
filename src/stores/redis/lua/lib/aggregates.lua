-- aggregates: the cells of statistics, the pages of throughput and the storage sums, with the pending entries of the log
-- (statistics-log.lua) added in memory. Nothing here writes: statistics-reads.lua returns the result, aggregate-log.lua writes it.
--
-- In the hash of the jobs:
--   #<queue> \31 <day> \31 <letter of the kind><name>   a cell (core/statistics/aggregate.ts): eleven doubles, then `;` and its
--                                                       buckets while it has them
--   %<queue> \31 <letter of the span><slot>             a page (core/statistics/series.ts): its number as a double, then done
--                                                       and failed of each minute or hour in four bytes each
--   $<queue>                                            the five sums of core/statistics/storage.ts, as doubles
-- The zset cells:<queue> has the cells by day, and buckets:<queue> those with a histogram; both are written before the cell.
--
-- Most calls need none of this, so the functions are created by the first use. Returns a table of functions.
-- uses: statistics-log

local aggregatesOfCall
local function aggregates()
  if aggregatesOfCall then return aggregatesOfCall end
  local log, MAX_CELLS, SPANS, BATCH = openLog(), FASTPATH.MAX_CELLS, FASTPATH.SPANS, 1000

  -- ── cells ──

  -- The cell as a table of eleven numbers and the text of its buckets, false once they have expired.
  local function readCell(words, at)
    if not words then return { 0, 0, 0, 0, 0, 0, 0, 0, 0, at, at, buckets = '' } end
    local cell = { struct.unpack('>ddddddddddd', words) }
    cell.buckets = #words > 88 and words:sub(90)
    return cell
  end

  local function writeCell(cell)
    local packed = struct.pack('>ddddddddddd', unpack(cell, 1, 11))
    return cell.buckets and packed .. ';' .. cell.buckets or packed
  end

  local function addBuckets(text, letter, spread)
    for bucket, times in pairs(spread.buckets) do
      local key = ' ' .. letter .. bucket .. '='
      local from, to = text:find(key, 1, true)
      if from then
        local count = text:match('^%d+', to + 1)
        text = text:sub(1, to) .. ('%d'):format(count + times) .. text:sub(to + 1 + #count)
      else
        text = text .. key .. ('%d'):format(times)
      end
    end
    return text
  end

  local function mergeSpread(cell, at, spread, letter)
    if spread[1] == 0 then return end
    local own = { cell[at], cell[at + 1], cell[at + 2] }
    log.addSpread(own, spread[1], spread[2], spread[3])
    cell[at], cell[at + 1], cell[at + 2] = own[1], own[2], own[3]
    if cell.buckets then cell.buckets = addBuckets(cell.buckets, letter, spread) end
  end

  local function mergePart(cell, part)
    mergeSpread(cell, 1, part.w, 'w')
    mergeSpread(cell, 4, part.r, 'r')
    for i = 1, 3 do cell[6 + i] = cell[6 + i] + part.ends[i] end
    cell[10], cell[11] = math.min(cell[10], part.firstAt), math.max(cell[11], part.lastAt)
  end

  local function stored(addresses)
    local found = {}
    for from = 1, #addresses, BATCH do
      local some = call('HMGET', P .. 'j', unpack(addresses, from, math.min(from + BATCH - 1, #addresses)))
      for i = 1, #some do found[from + i - 1] = some[i] end
    end
    return found
  end

  -- Whether a day has room for one more cell; the queue as a whole always has. Counts it.
  local function takeRoom(rooms, cell)
    -- It is in the index alone if an aggregation was aborted there.
    if call('ZSCORE', P .. 'cells:' .. cell.queue, cell.day .. '\31' .. cell.name) then return true end
    local key = cell.queue .. '\31' .. cell.day
    rooms[key] = rooms[key] or call('ZCOUNT', P .. 'cells:' .. cell.queue, cell.day, cell.day)
    if cell.name ~= 'q' and rooms[key] >= MAX_CELLS then return false end
    rooms[key] = rooms[key] + 1
    return true
  end

  -- The cells of a sum with what is stored of them, in order, as address and words; and those that are not stored yet.
  local function mergedCells(sum)
    local addresses, merged, new, rooms = {}, {}, {}, {}
    for i = 1, #sum.cells do addresses[i] = sum.cells[i].address end
    local found = stored(addresses)
    for i = 1, #sum.cells do
      local each = sum.cells[i]
      if found[i] or takeRoom(rooms, each) then
        local cell = readCell(found[i], each.parts[1].firstAt)
        for j = 1, #each.parts do mergePart(cell, each.parts[j]) end
        merged[#merged + 1] = { address = each.address, words = writeCell(cell), cell = each }
        if not found[i] then new[#new + 1] = each end
      end
    end
    return merged, new
  end

  -- The cells with pending entries: words by address, and in order.
  local function pendingCells()
    local sum = log.pending()
    if not sum.merged then
      sum.merged, sum.words = mergedCells(sum), {}
      for i = 1, #sum.merged do sum.words[sum.merged[i].address] = sum.merged[i].words end
    end
    return sum.words, sum.merged
  end

  -- ── pages ──

  -- The minutes of a sum by page: those of the latest page that belongs in its slot.
  local function pagesOf(sum)
    local pages, order = {}, {}
    for i = 1, #sum.minutes do
      local minute = sum.minutes[i]
      for s = 1, 2 do
        local span = SPANS[s]
        local place = math.floor(minute.at / span.ms)
        local number = math.floor(place / span.cells)
        local address = '%' .. minute.queue .. '\31' .. span.letter .. number % span.slots
        local page = pages[address]
        if not page then order[#order + 1] = address end
        if not page or page.number < number then
          page = { number = number, cells = span.cells, ends = {} }
          pages[address] = page
        end
        if page.number == number then
          page.ends[#page.ends + 1] = { 9 + 8 * (place % span.cells), minute.done, minute.failed }
        end
      end
    end
    return pages, order
  end

  -- A page with more ends; nil where a later page is in its slot.
  local function addPage(words, page)
    local number = words and struct.unpack('>d', words) or -1
    if number > page.number then return nil end
    if number < page.number then words = struct.pack('>d', page.number) .. ('\0'):rep(8 * page.cells) end
    for i = 1, #page.ends do
      local at, done, failed = unpack(page.ends[i])
      local a, b = struct.unpack('>I4I4', words, at)
      words = words:sub(1, at - 1) .. struct.pack('>I4I4', a + done, b + failed) .. words:sub(at + 8)
    end
    return words
  end

  local function mergedPages(sum)
    local pages, order = pagesOf(sum)
    local found, merged = stored(order), {}
    for i = 1, #order do
      local words = addPage(found[i], pages[order[i]])
      if words then merged[#merged + 1] = { address = order[i], words = words } end
    end
    return merged
  end

  -- The pages with pending entries: words by address.
  local function pendingPages()
    local sum = log.pending()
    if not sum.pages then
      sum.pages = {}
      for _, page in ipairs(mergedPages(sum)) do sum.pages[page.address] = page.words end
    end
    return sum.pages
  end

  -- ── storage ──

  local function storageOf(queue, sums)
    local words = call('HGET', P .. 'j', '$' .. queue)
    local known = words and { struct.unpack('>ddddd', words) } or { 0, 0, 0, 0, 0 }
    for i = 1, sums and 5 or 0 do known[i] = known[i] + sums[i] end
    return known
  end

  -- The five sums of core/statistics/storage.ts, as if no entry were pending.
  local function storage(queue)
    return storageOf(queue, log.pending().storage[queue])
  end

  aggregatesOfCall = {
    log = log, stored = stored, mergedCells = mergedCells, mergedPages = mergedPages, storageOf = storageOf,
    pendingCells = pendingCells, pendingPages = pendingPages, storage = storage,
  }
  return aggregatesOfCall
end

