-- requeue: another life by an operator's word. Budgets start anew, the numbering of attempts does not.
-- ARGV: clock, then for each: id, and \31 attempt, queue, delayMs as far as said. Returns the state or a refusal for each.
begin()

local function refusalOf(job, queue, held)
  local state = STATE[job.place]
  local isOpen = state == 'waiting' or state == 'draft' or state == 'running'
  if isOpen and not held then return '!wrong-state' end
  if job.queue ~= queue and queues.settings(queue).state == 'down' then return '!queue-down ' .. queue end
  local holder = keys.holderAgainst(job, queue)
  if holder then return '!key-taken ' .. holder end
end

return forEach(function(job, said)
  local refusal
  job, refusal = target(job, said)
  if refusal then return refusal end
  local from, queue = job.queue, said.queue or job.queue
  if STATE[job.place] == 'waiting' and from == queue then return 'waiting' end
  local held = loss.isHeld(job, queues.settings(from))
  refusal = refusalOf(job, queue, held)
  if refusal then return refusal end
  work.touch(job)
  local token, wasBad = held and record.lease(job).token or nil, edges.isBad(job)
  if job.place == 'd' then record.setText(job, 'v', nil) end
  loss.fresh(job)
  rare.goTo(job, queue)
  record.setRunAt(job, clock.now + number(said.delayMs))
  if held then record.setNumber(job, 'interruptions', number(job.fields.interruptions) + 1) end
  throttles.enter(job)
  life.apply(job, 'requeued', { token = token, from = from })
  if job.fields.dependents then edges.tell({ { job = job, wasBad = wasBad } }) end
  keys.take(job)
  return 'waiting'
end)
