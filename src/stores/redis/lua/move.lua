-- move: a waiting job or a draft goes to another queue; a running one only when it is stolen from its holder.
-- ARGV: clock, then for each: id, and \31 queue, with attempt and steal as far as said. Returns the state or a refusal for each.
begin()

return forEach(function(id, said)
  local job, refusal = target(id, said)
  if not job then return refusal end
  local from, queue, state = job.queue, said.queue, STATE[job.place]
  if from == queue and state ~= 'running' then return state end
  local isStolen = state == 'running' and said.steal ~= nil
  if state ~= 'waiting' and state ~= 'draft' and not isStolen then return '!wrong-state' end
  if from ~= queue and settingsOf(queue).state == 'down' then return '!queue-down ' .. queue end
  local holder = holdsKey(job) and keyHolderAgainst(job, queue)
  if holder then return '!key-taken ' .. holder end
  touch(job)
  local token = isStolen and leaseOf(job).token or nil
  if state ~= 'draft' then job.place = 'w' end
  setLease(job, nil)
  goTo(job, queue)
  job.fields.progress, job.fields.returnedAt = nil, nil
  if isStolen then setNumber(job, 'interruptions', number(job.fields.interruptions) + 1) end
  apply(job, 'moved', { token = token, note = queue, from = from })
  return STATE[job.place]
end)
