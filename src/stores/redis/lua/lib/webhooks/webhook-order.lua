-- webhook-order: the order of webhook calls: core/operations/webhook-order.ts.
-- uses: context, record, unit-of-work
-- on demand: dependencies, edges, unique-keys

local uniqueKeys = require('unique-keys')
local edges = require('edges')
local dependencies = require('dependencies')
local webhookOrder = {}

local function isSameSequence(other, call)
  return other.queue == call.queue and other.fields.unique and not dependencies.isEnded(other)
    and uniqueKeys.keyAddress(uniqueKeys.uniqueOf(other), other.queue) == uniqueKeys.keyAddress(uniqueKeys.uniqueOf(call), call.queue)
end

-- The job that holds a key, and may be waited for.
function webhookOrder.openHolder(address)
  local id = uniqueKeys.holder(address)
  if not id then return nil end
  record.load({ id })
  local job = context.jobs[id]
  if job and not job.isDeleted and not dependencies.isEnded(job) then return job end
end

-- From whoever holds it.
function webhookOrder.handKeyTo(address, id)
  uniqueKeys.note(address)
  uniqueKeys.set(address, '- ' .. id)
end

-- The call that this call waits for in its line, if there is one.
function webhookOrder.precedingCall(call)
  if not call.fields.unique or select(2, dependencies.countsOf(call)) == 0 then return nil end
  local hex = record.hex(call)
  for _, parent in ipairs(record.bySeqs(edges.members('up:' .. hex))) do
    local isThere = parent and not parent.isDeleted and isSameSequence(parent, call)
    if isThere and edges.has('wait:' .. record.hex(parent), hex) then return parent end
  end
end

-- Hands on the place of a call that was cancelled or deleted. `front`: the call that it waited for before that.
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
  local address = uniqueKeys.keyAddress(uniqueKeys.uniqueOf(call), call.queue)
  if not uniqueKeys.holder(address) then webhookOrder.handKeyTo(address, front.id) end
end

return webhookOrder
