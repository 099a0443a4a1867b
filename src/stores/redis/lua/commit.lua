-- commit: drafts become waiting jobs, and their delay starts. A second commit finds what it wanted.
-- ARGV: clock, then for each: id, ''. Returns the state or a refusal for each.
begin()

return forEach(function(id)
  local job = jobs[id]
  if not job then return '!not-found' end
  if job.place ~= 'p' then return STATE[job.place] end
  local holder = keyHolderAgainst(job, job.queue)
  if holder then return '!key-taken ' .. holder end
  touch(job)
  job.place = 'w'
  setRunAt(job, max(runAtOf(job), now + number(job.fields.delayMs)))
  job.fields.delayMs = nil
  apply(job, 'committed', {})
  takeKey(job)
  return 'waiting'
end)
