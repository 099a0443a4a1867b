-- move: a waiting job or a draft goes to another queue; a running one only when it is stolen from its holder.
-- ARGV: clock, then for each: id, and \31 queue, with attempt and steal as far as said. Returns the state or a refusal for each.
begin()

local function refusalOf(job, queue, isStolen)
  local state = STATE[job.place]
  if state ~= 'waiting' and state ~= 'draft' and not isStolen then return '!wrong-state ' .. state .. ' move' end
  local settings = queues.settings(queue)
  if job.queue ~= queue and queues.isShut(settings) then return '!queue-' .. settings.state .. ' ' .. queue end
  local holder = keys.isHeldBy(job) and keys.holderAgainst(job, queue)
  if holder then return '!key-taken ' .. holder end
end

return forEach(function(job, said)
  local refusal
  job, refusal = target(job, said)
  if refusal then return refusal end
  local from, queue, isRunning = job.queue, said.queue, job.place == 'r'
  if from == queue and not isRunning then return STATE[job.place] end
  local isStolen = isRunning and said.steal ~= nil
  refusal = refusalOf(job, queue, isStolen)
  if refusal then return refusal end
  work.touch(job)
  local token = isStolen and record.lease(job).token or nil
  if STATE[job.place] == 'waiting' then throttles.passOn(job) end
  job.fields.into = nil
  if job.place ~= 'p' then life.wait(job) end
  record.endLease(job)
  rare.goTo(job, queue)
  job.fields.progress, job.fields.returnedAt = nil, nil
  if isStolen then
    job.fields.freedAt = clock.nowText
    record.setNumber(job, 'interruptions', number(job.fields.interruptions) + 1)
  end
  if STATE[job.place] == 'waiting' then throttles.enter(job) end
  life.apply(job, 'moved', { token = token, note = queue, from = from })
  return STATE[job.place]
end)
