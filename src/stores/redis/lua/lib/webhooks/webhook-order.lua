-- webhook-order: keeps the webhook calls of a job in order (core/operations/webhook-order.ts).
-- uses: context, record, unit-of-work
-- on demand: dependencies, edges, key-changes, unique-keys

local keyChanges = require('key-changes')
local uniqueKeys = require('unique-keys')
local edges = require('edges')
local dependencies = require('dependencies')
local webhookOrder = {}

local function isSameSequence(other, call)
  return other.queue == call.queue and other.fields.unique and not dependencies.isEnded(other)
    and uniqueKeys.addressOf(other) == uniqueKeys.addressOf(call)
end

-- Returns the holder of a key if it has not ended.
function webhookOrder.openHolder(address)
  local id = uniqueKeys.holder(address)
  if not id then return nil end
  record.load({ id })
  local job = context.jobs[id]
  if job and not job.isDeleted and not dependencies.isEnded(job) then return job end
end

-- Gives a key to a job, even if another one holds it.
function webhookOrder.handKeyTo(address, id)
  keyChanges.note(address)
  keyChanges.set(address, '- ' .. id)
end

-- Returns the call of the same sequence that this call waits for, if there is one.
function webhookOrder.precedingCall(call)
  if not call.fields.unique or select(2, dependencies.countsOf(call)) == 0 then return nil end
  local hex = record.hex(call)
  for _, parent in ipairs(record.bySeqs(edges.members('up:' .. hex))) do
    local isThere = parent and not parent.isDeleted and isSameSequence(parent, call)
    if isThere and edges.has('wait:' .. record.hex(parent), hex) then return parent end
  end
end

-- Hands over the position of a call that was cancelled or deleted. `front` is the call that it waited for.
function webhookOrder.handOverPosition(call, front)
  for _, child in ipairs(call.fields.dependents and edges.openChildren(call) or {}) do
    if isSameSequence(child, call) then
      unitOfWork.touch(child)
      edges.set('wait:' .. record.hex(call), record.hex(child), false)
      dependencies.addCounts(child, 0, -1, 0)
      if not call.isDeleted then dependencies.countDependents(call, -1) end
      dependencies.waitFor(child, dependencies.withParents(child, { front }))
    end
  end
  local address = uniqueKeys.addressOf(call)
  if not uniqueKeys.holder(address) then webhookOrder.handKeyTo(address, front.id) end
end

return webhookOrder
