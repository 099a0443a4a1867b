-- cancel: cancels jobs. A running job is marked for its worker, unless its lease has expired. Its dependents are cancelled
-- too, or left to their rule, if the request says so; otherwise a job with dependents is refused.
-- ARGV: clock, then for each: id, and optional \31 attempt, dependents (cancel or leave). Returns cancelled, asked or a
-- refusal for each.
-- uses: context, lifecycle, operation, queue-settings, record, unit-of-work
-- on demand: dependencies, edges, find-parents, lost-leases, parking, webhook-order
operation.begin()

local function isAbandoned(job)
  local settings = queueSettings.settingsOf(job.queue)
  return require('lost-leases').isHeld(job, settings) or require('lost-leases').isExpired(job, settings)
end

local function stop(job, details)
  unitOfWork.touch(job)
  if STATE[job.place] == 'waiting' then require('parking').unparkBehind(job) end
  lifecycle.ended(job, 'c')
  lifecycle.apply(job, 'cancelled', details)
  local front = job.queue == K.WEBHOOKS_QUEUE and require('webhook-order').precedingCall(job)
  if front then require('webhook-order').handOverPosition(job, front) end
  return 'cancelled'
end

local function waitingFor(job)
  local count = 0
  for _, child in ipairs(job.fields.dependents and require('edges').openChildren(job) or {}) do
    if require('dependencies').isNotEnded(child) then count = count + 1 end
  end
  return count
end

local function waitingBelow(job)
  return require('find-parents').descendants(job, math.huge, require('dependencies').isNotEnded)
end

-- Cancels all descendants before their dependents are notified: the rule of a dependent must not apply to a cancelled one.
local function withDependents(job, request, end_)
  local isMeant = job.fields.dependents and request.dependents == 'cancel'
  local descendants = isMeant and waitingBelow(job) or {}
  local outcome, line = end_(), {}
  if outcome == 'cancelled' and job.fields.dependents then line[1] = { job = job, wasUnsuccessful = false } end
  for _, child in ipairs(descendants) do
    stop(child, {})
    if child.fields.dependents then line[#line + 1] = { job = child, wasUnsuccessful = false } end
  end
  if #line > 0 then require('dependencies').notifyDependents(line) end
  return outcome
end

local function ask(job, lease)
  unitOfWork.touch(job)
  job.fields.cancelAskedAt = context.nowText
  lifecycle.apply(job, 'cancel-asked', { token = lease.token })
  return 'asked'
end

return operation.forEach(function(job, request)
  local refusal
  job, refusal = operation.target(job, request)
  if refusal then return refusal end
  if job.place == 'c' then return 'cancelled' end
  if job.place == 'd' or job.place == 'x' then return '!wrong-state ' .. STATE[job.place] .. ' cancel' end
  local lease = job.place == 'r' and record.leaseOf(job)
  local isLeft = lease and not isAbandoned(job)
  if isLeft and job.fields.cancelAskedAt then return 'asked' end
  local waiting = request.dependents and 0 or waitingFor(job)
  if waiting > 0 then return '!has-dependents ' .. ('%d'):format(waiting) end
  return withDependents(job, request, function()
    if not lease then return stop(job, {}) end
    if isLeft then return ask(job, lease) end
    return stop(job, { token = lease.token, by = lease.worker, note = 'no worker was running it' })
  end)
end)
