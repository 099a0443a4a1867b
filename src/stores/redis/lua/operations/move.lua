-- move: moves waiting jobs and drafts to another queue; running ones only with `steal`.
-- ARGV: clock, then for each: id, and \31 queue, and optional attempt, steal. Returns the state or a refusal for each.
-- uses: values, context, indexes, lifecycle, operation, record, record-changes, unit-of-work
-- on demand: parking, queue-entry, turns, unique-keys
operation.begin()

local function refusalOf(job, queue, isStolen)
  local state = STATE[job.place]
  if state ~= 'waiting' and state ~= 'draft' and not isStolen then return '!wrong-state ' .. state .. ' move' end
  return require('queue-entry').refusalOf(job, queue, require('unique-keys').holdsKey(job))
end

return operation.forEach(function(job, request)
  local refusal
  job, refusal = operation.target(job, request)
  if refusal then return refusal end
  local from, queue, isRunning = job.queue, request.queue, job.place == 'r'
  if from == queue and not isRunning then return STATE[job.place] end
  local isStolen = isRunning and request.steal ~= nil
  refusal = refusalOf(job, queue, isStolen)
  if refusal then return refusal end
  unitOfWork.touch(job)
  local token = isStolen and record.leaseOf(job).token or nil
  if STATE[job.place] == 'waiting' then require('parking').unparkBehind(job) end
  job.fields.into = nil
  if job.place ~= 'p' then lifecycle.wait(job) end
  local suspended = not isRunning and job.fields.suspended or nil
  lifecycle.withoutLease(job)
  job.fields.suspended = suspended
  indexes.changeQueue(job, queue)
  job.fields.progress, job.fields.returnedAt = nil, nil
  if isStolen then
    job.fields.freedAt = context.nowText
    recordChanges.setNumber(job, 'interruptions', number(job.fields.interruptions) + 1)
  end
  if STATE[job.place] == 'waiting' then require('turns').withTurn(job) end
  lifecycle.apply(job, 'moved', { token = token, note = queue, from = from })
  return STATE[job.place]
end)
