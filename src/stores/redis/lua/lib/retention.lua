-- retention: done jobs whose results may be pruned (core/operations/retention.ts).
-- uses: record, storage

return {
  -- Returns done jobs with a result that ended at or after a time, the oldest first, within a bounded scan.
  jobsWithResult = function(queue, from, limit)
    local found, key, offset, PAGE = {}, P .. 'done:' .. queue, 0, 500
    while #found < limit and offset < 10 * K.MAX_PRUNABLE_SCAN do
      local members = call('ZRANGEBYSCORE', key, from, '+inf', 'LIMIT', offset, PAGE)
      for _, job in ipairs(record.bySeqs(record.seqsOf(members))) do
        local isHere = job and job.place == 'd' and job.queue == queue and not job.isDeleted
        if isHere and #found < limit and select(2, storage.storedBytes(job)) then found[#found + 1] = job end
      end
      if #members < PAGE then return found end
      offset = offset + PAGE
    end
    return found
  end,
}
