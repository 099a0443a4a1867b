-- keep-steps: keeps steps of attempts whose lease the caller holds (core/operations/steps/keep-steps.ts).
-- ARGV: clock, then for each: id, and its kind with \31 token, name, status, and optional result, failure, failureBytes, attempts,
-- ranMs, delayMs. Returns for each the time, the key of the step, and the step as it is kept (steps.lua); or a refusal.
-- uses: context, events, operation, record
-- on demand: steps
operation.begin()

local steps = require('steps')

-- A wait is fixed when it began, and an event when it arrived, until the handler has read it.
local function isFixed(kind, status, given)
  if status == 'done' then return true end
  if kind == 'event' and status ~= 'waiting' then return status == 'failed' or given ~= 'done' end
  return status == 'waiting' and given == 'waiting'
end

local function keptStep(kind, before, request, number)
  local old = before or {}
  local step = {
    number = old.number or number, status = request.status, failure = request.failure,
    failureBytes = tonumber(request.failureBytes), attempts = tonumber(request.attempts) or old.attempts or 0,
    startedAt = old.startedAt or context.now - (tonumber(request.ranMs) or 0),
    endedAt = request.status ~= 'waiting' and context.now or nil, to = old.to,
    result = kind == 'event' and old.result or request.result,
  }
  if not before and request.delayMs then step.to = context.now + request.delayMs end
  return step
end

return operation.forEach(function(job, request, kind)
  if not job then return '!not-found' end
  if not record.holds(job, request.token) then return '!lease-lost' end
  local key = kind .. ':' .. request.name
  local step = steps.get(job, key)
  if not step or not isFixed(kind, step.status, request.status) then
    local before = step
    step = keptStep(kind, before, request, steps.nextNumber(job))
    local refusal = steps.put(job, key, before, step)
    if refusal then return refusal end
    events.emit('progress', job.queue, 'running', job.id)
  end
  return context.nowText .. '\30' .. key .. '\30' .. steps.encode(step)
end)
