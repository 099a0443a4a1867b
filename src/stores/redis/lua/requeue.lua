-- requeue: another life by an operator's word. Budgets start anew, the numbering of attempts does not.
-- ARGV: clock, then for each: id, and \31 attempt, queue, delayMs as far as said. Returns the state or a refusal for each.
begin()

return forEach(function(id, said)
  local job, refusal = target(id, said)
  if not job then return refusal end
  local from, queue, state = job.queue, said.queue or job.queue, STATE[job.place]
  if state == 'waiting' and from == queue then return 'waiting' end
  local held = isHeld(job, settingsOf(from))
  if (state == 'waiting' or state == 'draft' or state == 'running') and not held then return '!wrong-state' end
  if from ~= queue and settingsOf(queue).state == 'down' then return '!queue-down ' .. queue end
  local holder = keyHolderAgainst(job, queue)
  if holder then return '!key-taken ' .. holder end
  touch(job)
  local token = held and leaseOf(job).token or nil
  fresh(job)
  goTo(job, queue)
  setRunAt(job, now + number(said.delayMs))
  if state == 'done' then setText(job, 'v', nil) end
  if held then setNumber(job, 'interruptions', number(job.fields.interruptions) + 1) end
  apply(job, 'requeued', { token = token, from = from })
  takeKey(job)
  return 'waiting'
end)
