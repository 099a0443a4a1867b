-- commit: makes drafts waiting jobs, and starts their delay. A repeated commit returns the state.
-- ARGV: clock, then for each: id, ''. Returns the state or a refusal for each.
-- uses: values, context, lifecycle, operation, record-changes, unit-of-work
-- on demand: key-changes, turns, unique-keys
operation.begin()

return operation.forEach(function(job)
  if not job then return '!not-found' end
  if job.place ~= 'p' then return STATE[job.place] end
  local holder = require('unique-keys').keyHolderAgainst(job, job.queue)
  if holder then return '!key-taken ' .. holder end
  unitOfWork.touch(job)
  lifecycle.wait(job)
  local given, delayMs = tonumber(job.fields.runAt), number(job.fields.delayMs)
  if given and given > context.now + delayMs then job.fields.delayMs = nil else recordChanges.setDue(job, delayMs) end
  require('turns').withTurn(job)
  lifecycle.apply(job, 'committed', {})
  require('key-changes').takeKey(job)
  return 'waiting'
end)
