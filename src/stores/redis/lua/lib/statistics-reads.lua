-- statistics-reads: reads the statistics of a queue.
-- uses: values

return {
  -- Returns a cell as core/statistics/aggregate.ts writes it, with or without its buckets.
  figures = function(encoded, hasBuckets)
    local numbers = { struct.unpack('>ddddddddddd', encoded) }
    for i = 1, 11 do numbers[i] = text(numbers[i]) end
    return table.concat(numbers, ' ', 1, 11) .. (hasBuckets and encoded:sub(89) or '')
  end,

  -- Returns the stored pages of a queue's throughput in the slots of these pages: number and counts of each.
  pages = function(queue, span, first, last)
    local addresses, found = {}, {}
    for page = first, last do addresses[#addresses + 1] = '%' .. queue .. '\31' .. span.letter .. page % span.slots end
    local stored = call('HMGET', P .. 'j', unpack(addresses))
    for i = 1, #addresses do
      local encoded, counts = stored[i], {}
      for at = 9, encoded and #encoded or 0, 4 do counts[#counts + 1] = ('%d'):format((struct.unpack('>I4', encoded, at))) end
      if encoded then found[#found + 1] = text((struct.unpack('>d', encoded))) .. '\31' .. table.concat(counts, ' ') end
    end
    return found
  end,

  -- Returns the five sums of a queue's ended jobs (core/statistics/storage.ts).
  kept = function(queue)
    local encoded = call('HGET', P .. 'j', '$' .. queue)
    if not encoded then return { 0, 0, 0, 0, 0 } end
    return { struct.unpack('>ddddd', encoded) }
  end,
}
