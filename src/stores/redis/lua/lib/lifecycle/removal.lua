-- removal: deletes a job (core/operations/operate.ts).
-- uses: context, events, unit-of-work
-- on demand: dependencies, key-changes, log-removal, parking, unique-keys, webhook-order

local keyChanges = require('key-changes')
local uniqueKeys = require('unique-keys')
local dependencies = require('dependencies')
local webhookOrder = require('webhook-order')
local parking = require('parking')
local removal = {}

function removal.removeWithKey(job)
  unitOfWork.touch(job)
  local front = job.queue == K.WEBHOOKS_QUEUE and not dependencies.isEnded(job) and webhookOrder.precedingCall(job)
  if job.fields.parents then dependencies.leaveParents(job) end
  if STATE[job.place] == 'waiting' then parking.unparkBehind(job) end
  job.isDeleted = true
  context.deleted = context.deleted or { ids = {} }
  table.insert(context.deleted, job)
  table.insert(context.deleted.ids, job.id)
  for letter in (job.fields.apart or ''):gmatch('.') do
    unitOfWork.pending('longTexts')[letter .. job.id] = false
  end
  if job.fields.steps then write('DEL', P .. 'steps:' .. job.id) end
  require('log-removal').removeOf(job.id)
  local unique = uniqueKeys.uniqueOf(job)
  if unique then
    local address = uniqueKeys.keyAddress(unique, job.queue)
    keyChanges.note(address)
    keyChanges.release(address, job.id)
  end
  if front then webhookOrder.handOverPosition(job, front) end
  events.emit('deleted', job.queue, STATE[job.place], job.id)
  dependencies.notifyDependentsOf(job, dependencies.isUnsuccessful(job))
end

return removal
