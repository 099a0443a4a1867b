-- measurements: what the statistics count of a transition (core/statistics/statistics.ts).
-- uses: context, record, statistics

-- Counts an attempt that did not complete, for its queue and for its failure group.
local function countEnd(job, event, group)
  local isFailed, isFailure = job.place == 'x', event == 'failed' or event == 'retried'
  local isBreak = event == 'lost' or event == 'released' or event == 'moved' or event == 'requeued'
  local isRetry = not isFailed and (isFailure or event == 'resent')
  local ends = { isRetry and 1 or 0, isFailed and 1 or 0, isBreak and 1 or 0 }
  statistics.countEnd(group, ends, (isFailed or isFailure) and job.fields.group)
end

return {
  -- Counts a wait, a run or an unsuccessful attempt.
  measure = function(job, event, details)
    if event == 'claimed' then
      local group = statistics.group(job.queue, details.by, job.oldTags or '')
      return statistics.measure(group, 'w', context.now - record.readySince(job))
    end
    if not job.oldLease or job.place == 'r' or job.place == 'c' then return end
    local claimedAt, worker = job.oldLease:match('^%S+ %S+ %S+ (%S+) (.*)$')
    job.oldLease = nil
    if event == 'suspended' then return end
    local group = statistics.group(details.from or job.queue, worker, job.oldTags or '')
    if event == 'completed' or event == 'advanced' or event == 'forwarded' then
      local ranMs = (job.oldSuspended or ''):match('^%S+')
      return statistics.measure(group, 'r', ranMs and math.max(0, context.now - claimedAt) + ranMs or context.now - claimedAt)
    end
    countEnd(job, event, group)
  end,
}
