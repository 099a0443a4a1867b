-- commit: drafts become waiting jobs, and their delay starts. A second commit finds what it wanted.
-- ARGV: clock, then for each: id, ''. Returns the state or a refusal for each.
begin()

return forEach(function(job)
  if not job then return '!not-found' end
  if job.place ~= 'p' then return STATE[job.place] end
  local holder = keys.holderAgainst(job, job.queue)
  if holder then return '!key-taken ' .. holder end
  work.touch(job)
  life.wait(job)
  local given, delayMs = tonumber(job.fields.runAt), number(job.fields.delayMs)
  if given and given > clock.now + delayMs then job.fields.delayMs = nil else record.setDue(job, delayMs) end
  throttles.enter(job)
  life.apply(job, 'committed', {})
  keys.take(job)
  return 'waiting'
end)
