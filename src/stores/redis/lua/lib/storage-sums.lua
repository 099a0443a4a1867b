-- storage-sums: counts the bytes of ended jobs in the sums of their queue (core/statistics/storage.ts).
-- uses: statistics, storage

return {
  -- Adds an ended job to the sums of its queue (sign 1), or subtracts it (-1).
  countBytes = function(job, sign)
    local bytes, result = storage.storedBytes(job)
    statistics.store(job.queue, job.place, bytes, result, sign)
  end,
}
