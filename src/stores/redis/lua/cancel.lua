-- cancel: ends a job, or leaves a mark for the worker that runs it, unless nobody is there to heed it.
-- ARGV: clock, then for each: id, and \31 attempt if named. Returns cancelled, asked or a refusal for each.
begin()

local function isAbandoned(job)
  local settings = queues.settings(job.queue)
  return loss.isHeld(job, settings) or loss.isOvertakable(job, settings)
end

local function stop(job, details)
  work.touch(job)
  life.ended(job, 'c')
  life.apply(job, 'cancelled', details)
  return 'cancelled'
end

return forEach(function(job, said)
  local refusal
  job, refusal = target(job, said)
  if refusal then return refusal end
  if job.place == 'c' then return 'cancelled' end
  if job.place == 'd' or job.place == 'x' then return '!wrong-state' end
  if job.place ~= 'r' then return stop(job, {}) end
  local lease = record.lease(job)
  if isAbandoned(job) then
    return stop(job, { token = lease.token, by = lease.worker, note = 'nobody was running it' })
  end
  if not job.fields.cancelAskedAt then
    work.touch(job)
    job.fields.cancelAskedAt = clock.nowText
    life.apply(job, 'cancel-asked', { token = lease.token })
  end
  return 'asked'
end)
