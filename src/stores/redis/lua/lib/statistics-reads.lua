-- statistics-reads: cells of statistics and pages of throughput, as if no entry of the log were pending.
-- uses: values, aggregates

return {
  -- The cells of a queue from a day to another, of one kind or of all: day, letter and name, and
  -- words of each.
  cells = function(queue, kind, first, last)
    local found, isSeen, head = {}, {}, '#' .. queue .. '\31'
    local words, merged = aggregates().pendingCells()
    for _, member in ipairs(call('ZRANGEBYSCORE', P .. 'cells:' .. queue, first, last)) do
      local day, name = member:match('^(%d+)\31(.*)$')
      local isAsked = not kind or name:sub(1, 1) == kind
      local own = isAsked and (words[head .. member] or call('HGET', P .. 'j', head .. member))
      isSeen[head .. member] = true
      if own then found[#found + 1] = { day = day, name = name, words = own } end
    end
    for i = 1, #merged do
      local cell = merged[i].cell
      local isAsked = cell.queue == queue and (not kind or cell.name:sub(1, 1) == kind)
      local day = isAsked and not isSeen[cell.address] and tonumber(cell.day)
      if day and day >= tonumber(first) and day <= tonumber(last) then
        found[#found + 1] = { day = cell.day, name = cell.name, words = merged[i].words }
      end
    end
    return found
  end,

  -- A cell as core/statistics/aggregate.ts writes it; with its buckets or without.
  cellText = function(words, hasBuckets)
    local cell = { struct.unpack('>ddddddddddd', words) }
    for i = 1, 11 do cell[i] = text(cell[i]) end
    return table.concat(cell, ' ', 1, 11) .. (hasBuckets and words:sub(89) or '')
  end,

  -- The pages in the slots of these pages: number and counts of each.
  pages = function(queue, span, first, last)
    local pending, addresses, found = aggregates().pendingPages(), {}, {}
    for number = first, last do addresses[#addresses + 1] = '%' .. queue .. '\31' .. span.letter .. number % span.slots end
    local stored = aggregates().stored(addresses)
    for i = 1, #addresses do
      local words, counts = pending[addresses[i]] or stored[i], {}
      for at = 9, words and #words or 0, 4 do counts[#counts + 1] = ('%d'):format((struct.unpack('>I4', words, at))) end
      if words then found[#found + 1] = text((struct.unpack('>d', words))) .. '\31' .. table.concat(counts, ' ') end
    end
    return found
  end,
}
