-- measurements: what the statistics count of a change: core/statistics/statistics.ts.
-- uses: context, record, tally

-- How an attempt that did not complete counts, for its heap and for the group of its failure.
local function countEnd(job, event, heap)
  local isFailed, isFailure = job.place == 'x', event == 'failed' or event == 'retried'
  local isBreak = event == 'lost' or event == 'released' or event == 'moved' or event == 'requeued'
  local ends = {
    failures = isFailed and 1 or 0,
    retries = not isFailed and (isFailure or event == 'resent') and 1 or 0,
    interruptions = isBreak and 1 or 0,
  }
  for name, times in pairs(ends) do heap[name] = heap[name] + times end
  if not (isFailed or isFailure) then return end
  heap.groups = heap.groups or {}
  local group = heap.groups[job.fields.group] or { failures = 0, retries = 0, interruptions = 0 }
  heap.groups[job.fields.group] = group
  for name, times in pairs(ends) do group[name] = group[name] + times end
end

return {
  -- What the statistics count of it: core/statistics/statistics.ts.
  measure = function(job, event, details)
    if event == 'claimed' then
      local heap = tally.heap(job.queue, details.by, job.oldTags or '')
      return tally.add(heap, 'w', context.now - record.readySince(job))
    end
    if not job.oldLease or job.place == 'r' or job.place == 'c' then return end
    local claimedAt, worker = job.oldLease:match('^%S+ %S+ %S+ (%S+) (.*)$')
    job.oldLease = nil
    local heap = tally.heap(details.from or job.queue, worker, job.oldTags or '')
    if event == 'completed' or event == 'advanced' or event == 'forwarded' then
      return tally.add(heap, 'r', context.now - claimedAt)
    end
    countEnd(job, event, heap)
  end,
}
