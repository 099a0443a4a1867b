-- spread: several durations as in an entry of the log of statistics (statistics.lua): count, first, sum and squares of the
-- distances from the first, and the buckets.
-- uses: histogram

return {
  textOf = function(values, count)
    local first, sum, squares, buckets = values[1], 0, 0, {}
    for i = 1, count do
      local distance, bucket = values[i] - first, bucketOf(values[i])
      sum, squares, buckets[bucket] = sum + distance, squares + distance * distance, (buckets[bucket] or 0) + 1
    end
    local parts = { ('%d %d %.17g %.17g'):format(count, first, sum, squares) }
    for bucket, times in pairs(buckets) do parts[#parts + 1] = ('%d=%d'):format(bucket, times) end
    return table.concat(parts, ';')
  end,
}
