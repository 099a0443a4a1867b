-- removal: deletes a job: core/operations/operate.ts.
-- uses: context, events, unit-of-work
-- on demand: dependencies, parking, unique-keys, webhook-order

local uniqueKeys = require('unique-keys')
local dependencies = require('dependencies')
local webhookOrder = require('webhook-order')
local parking = require('parking')
local removal = {}

function removal.removeWithKey(job)
  unitOfWork.touch(job)
  local front = job.queue == 'hooks' and not dependencies.isEnded(job) and webhookOrder.precedingCall(job)
  if job.fields.parents then dependencies.leaveParents(job) end
  if STATE[job.place] == 'waiting' then parking.unparkBehind(job) end
  job.isDeleted = true
  context.deleted = context.deleted or { ids = {} }
  table.insert(context.deleted, job)
  table.insert(context.deleted.ids, job.id)
  for letter in (job.fields.apart or ''):gmatch('.') do
    context.longTexts = context.longTexts or {}
    context.longTexts[letter .. job.id] = false
  end
  local unique = uniqueKeys.uniqueOf(job)
  if unique then
    local address = uniqueKeys.keyAddress(unique, job.queue)
    uniqueKeys.note(address)
    uniqueKeys.release(address, job.id)
  end
  if front then webhookOrder.handOverPosition(job, front) end
  events.emit('deleted', job.queue, STATE[job.place], job.id)
  if job.fields.dependents then dependencies.notifyDependents({ { job = job, wasBad = dependencies.isUnsuccessful(job) } }) end
end

return removal
