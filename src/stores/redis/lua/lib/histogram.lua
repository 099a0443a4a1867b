-- histogram: the bucket of a duration, as core/statistics/histogram.ts numbers them.

local SMALL_BUCKETS = { 1, 2, 5, 10, 20, 50, 100, 200, 500 }

local function bucketOf(ms)
  if ms < 1000 then
    local bucket = 0
    while bucket < 9 and ms >= SMALL_BUCKETS[bucket + 1] do bucket = bucket + 1 end
    return bucket
  end
  if ms < 60000 then return 9 + math.floor(ms / 1000) end
  if ms < 3600000 then return 68 + math.floor(ms / 60000) end
  if ms < 86400000 then return 124 + math.floor(ms / 900000) end
  if ms < 259200000 then return 196 + math.floor(ms / 3600000) end
  return 265 + math.min(365, math.floor(ms / 86400000))
end

