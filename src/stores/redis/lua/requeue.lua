-- requeue: another life by an operator's word. Budgets start anew, the numbering of attempts does not.
-- ARGV: clock, then for each: id, and \31 attempt, queue, delayMs, steal as far as said. Returns the state or a refusal for each.
begin()

local function refusalOf(job, queue, isFree)
  local state = STATE[job.place]
  local isOpen = state == 'waiting' or state == 'draft' or state == 'running'
  if isOpen and not isFree then return '!wrong-state ' .. state .. ' requeue' end
  local settings = queues.settings(queue)
  if job.queue ~= queue and queues.isShut(settings) then return '!queue-' .. settings.state .. ' ' .. queue end
  local holder = keys.holderAgainst(job, queue)
  if holder then return '!key-taken ' .. holder end
end

return forEach(function(job, said)
  local refusal
  job, refusal = target(job, said)
  if refusal then return refusal end
  local from, queue = job.queue, said.queue or job.queue
  local state = STATE[job.place]
  if state == 'waiting' and from == queue and not said.steal then return 'waiting' end
  local isStolen = said.steal and (state == 'waiting' or state == 'running')
  refusal = refusalOf(job, queue, isStolen or loss.isHeld(job, queues.settings(from)))
  if refusal then return refusal end
  work.touch(job)
  if state == 'waiting' then throttles.passOn(job) end
  local isRunning = state == 'running'
  local token, wasBad = isRunning and record.lease(job).token or nil, edges.isBad(job)
  if job.place == 'd' then record.setText(job, 'v', nil) end
  loss.fresh(job)
  rare.goTo(job, queue)
  record.setDue(job, number(said.delayMs))
  if isRunning then record.setNumber(job, 'interruptions', number(job.fields.interruptions) + 1) end
  throttles.enter(job)
  life.apply(job, 'requeued', { token = token, from = from })
  if job.fields.dependents then edges.tell({ { job = job, wasBad = wasBad } }) end
  keys.take(job)
  return 'waiting'
end)
