-- requeue: makes jobs wait again. Their budgets of retries start anew, the numbers of their attempts do not.
-- ARGV: clock, then for each: id, and optional \31 attempt, queue, delayMs, steal, fresh.
-- Returns the state or a refusal for each.
-- uses: values, indexes, lifecycle, operation, queue-settings, record, record-changes, unit-of-work
-- on demand: dependencies, key-changes, lost-leases, parking, queue-entry, turns
operation.begin()

local function refusalOf(job, queue, isFree)
  local state = STATE[job.place]
  local isOpen = state == 'waiting' or state == 'draft' or state == 'running'
  if isOpen and not isFree then return '!wrong-state ' .. state .. ' requeue' end
  return require('queue-entry').refusalOf(job, queue, true)
end

return operation.forEach(function(job, request)
  local refusal
  job, refusal = operation.target(job, request)
  if refusal then return refusal end
  local from, queue = job.queue, request.queue or job.queue
  local state = STATE[job.place]
  if state == 'waiting' and from == queue and not request.steal then return 'waiting' end
  local isStolen = request.steal and (state == 'waiting' or state == 'running')
  refusal = refusalOf(job, queue, isStolen or require('lost-leases').isHeld(job, queueSettings.settingsOf(from)))
  if refusal then return refusal end
  unitOfWork.touch(job)
  if state == 'waiting' then require('parking').unparkBehind(job) end
  local isRunning = state == 'running'
  local token, wasUnsuccessful = isRunning and record.leaseOf(job).token or nil, require('dependencies').isUnsuccessful(job)
  local isFresh = job.place == 'd' or request.fresh
  if isFresh then recordChanges.clearKept(job) end
  lifecycle.restarted(job)
  indexes.changeQueue(job, queue)
  recordChanges.setDue(job, number(request.delayMs))
  if isRunning then recordChanges.setNumber(job, 'interruptions', number(job.fields.interruptions) + 1) end
  require('turns').withTurn(job)
  lifecycle.apply(job, 'requeued', { token = token, from = from })
  require('dependencies').notifyDependentsOf(job, wasUnsuccessful)
  require('key-changes').takeKey(job)
  return 'waiting'
end)
