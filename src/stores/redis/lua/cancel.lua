-- cancel: ends a job, or leaves a mark for the worker that runs it, unless nobody is there to heed it.
-- ARGV: clock, then for each: id, and \31 attempt if named. Returns cancelled, asked or a refusal for each.
begin()

return forEach(function(id, said)
  local job, refusal = target(id, said)
  if not job then return refusal end
  if job.place == 'c' then return 'cancelled' end
  if job.place == 'd' or job.place == 'x' then return '!wrong-state' end
  if job.place ~= 'r' then
    touch(job)
    ended(job, 'c')
    apply(job, 'cancelled', {})
    return 'cancelled'
  end
  local settings, lease = settingsOf(job.queue), leaseOf(job)
  if isHeld(job, settings) or isOvertakable(job, settings) then
    touch(job)
    ended(job, 'c')
    apply(job, 'cancelled', { token = lease.token, by = lease.worker, note = 'nobody was running it' })
    return 'cancelled'
  end
  if lease.cancelAskedAt == '-' then
    touch(job)
    lease.cancelAskedAt = text(now)
    setLease(job, lease)
    apply(job, 'cancel-asked', { token = lease.token })
  end
  return 'asked'
end)
