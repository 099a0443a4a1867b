-- retention: done jobs whose result may be pruned: core/operations/retention.ts.
-- uses: record, storage

return {
  -- Done jobs that have a result, from an end on, the oldest first, as far as a bounded look goes.
  jobsWithResult = function(queue, from, limit)
    local found, key, offset, PAGE = {}, P .. 'done:' .. queue, 0, 500
    while #found < limit and offset < 10 * K.MOST_LOOKED_AT do
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
