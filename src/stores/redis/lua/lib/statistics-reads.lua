-- statistics-reads: reads the statistics of a queue.
-- uses: values

return {
  -- A cell of statistics as core/statistics/aggregate.ts writes it; with its buckets or without.
  figures = function(words, hasBuckets)
    local numbers = { struct.unpack('>ddddddddddd', words) }
    for i = 1, 11 do numbers[i] = text(numbers[i]) end
    return table.concat(numbers, ' ', 1, 11) .. (hasBuckets and words:sub(89) or '')
  end,

  -- The pages of a queue's throughput over time (tally.lua) that stand where these pages would: number, and its counts.
  pages = function(queue, span, first, last)
    local addresses, found = {}, {}
    for page = first, last do addresses[#addresses + 1] = '%' .. queue .. '\31' .. span.letter .. page % span.slots end
    local stored = call('HMGET', P .. 'j', unpack(addresses))
    for i = 1, #addresses do
      local words, counts = stored[i], {}
      for at = 9, words and #words or 0, 4 do counts[#counts + 1] = ('%d'):format((struct.unpack('>I4', words, at))) end
      if words then found[#found + 1] = text((struct.unpack('>d', words))) .. '\31' .. table.concat(counts, ' ') end
    end
    return found
  end,

  -- The five sums of what a queue keeps: core/statistics/storage.ts.
  kept = function(queue)
    local words = call('HGET', P .. 'j', '$' .. queue)
    if not words then return { 0, 0, 0, 0, 0 } end
    return { struct.unpack('>ddddd', words) }
  end,
}
