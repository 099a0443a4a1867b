-- notify: keeps events for jobs, and wakes those that wait for them (core/operations/steps/keep-steps.ts).
-- ARGV: clock, then for each: id, and \31 name and data. Returns for each kept, woken or ignored and the state; or a refusal.
-- uses: context, lifecycle, operation, record, record-changes
-- on demand: steps
operation.begin()

local steps = require('steps')

-- Returns the name of the first step of an event that no handler has read, and the step if there is one.
local function openEvent(job, event)
  local n, name = 1, event
  while true do
    local step = steps.get(job, 'event:' .. name)
    if not step or step.status == 'waiting' or step.status == 'arrived' then return name, step end
    n = n + 1
    name = event .. '#' .. n
  end
end

return operation.forEach(function(job, request)
  if not job then return '!not-found' end
  local state = STATE[job.place]
  if state ~= 'draft' and state ~= 'waiting' and state ~= 'running' then return '!wrong-state ' .. state .. ' notify' end
  local name, before = openEvent(job, request.name)
  if before and before.status == 'arrived' then return 'ignored ' .. state end
  local old = before or { startedAt = context.now, number = steps.nextNumber(job) }
  local step = {
    number = old.number, status = 'arrived', result = request.data, attempts = 0, startedAt = old.startedAt,
    endedAt = context.now, to = old.to,
  }
  local refusal = steps.put(job, 'event:' .. name, before, step)
  if refusal then return refusal end
  local event = state == 'waiting' and (job.fields.suspended or ''):match('^%S+ %S+ (.*)$')
  local isWoken = event == name and record.runAtOf(job) > context.now
  if isWoken then recordChanges.setRunAt(job, context.now) end
  lifecycle.apply(job, 'notified', { note = name })
  return (isWoken and 'woken ' or 'kept ') .. state
end)
