-- delete: deletes jobs that are not running, with their history and their unique key.
-- ARGV: clock, then for each: id, ''. Returns the state it had or a refusal for each.
-- uses: operation
-- on demand: removal
operation.begin()

return operation.forEach(function(job)
  if not job or job.isDeleted then return '!not-found' end
  if job.place == 'r' then return '!wrong-state running delete' end
  require('removal').removeWithKey(job)
  return STATE[job.place]
end)
