-- lost-leases: attempts whose worker is lost (core/lifecycle/lifecycle.ts, core/operations/lost-leases.ts).
-- uses: values, context, lifecycle, queue-settings, record, record-changes, unit-of-work
-- on demand: dependencies

local dependencies = require('dependencies')
local lostLeases = {}

local function lostAsFailure(job, settings, why)
  local failures, since = number(job.fields.failures) + 1, math.min(record.leaseOf(job).to, context.now)
  recordChanges.setNumber(job, 'failures', failures)
  if failures <= lostLeases.retriesOf(job, settings) then return lifecycle.returned(job, since, 0) end
  lifecycle.ended(job, 'x')
  lifecycle.setFailure(job, orNil(settings.exhaustedGroup) or 'lost', why)
end

local function lostAsCrash(job, settings, why)
  local crashes, since = number(job.fields.crashes) + 1, math.min(record.leaseOf(job).to, context.now)
  recordChanges.setNumber(job, 'crashes', crashes)
  if crashes < settings.maxCrashes then
    local delays = K.crashDelays()
    return lifecycle.returned(job, since, delays[math.min(crashes, #delays)])
  end
  lifecycle.ended(job, 'x')
  lifecycle.setFailure(job, 'crashed', 'its worker was lost ' .. text(crashes) .. ' times', why)
end

-- Returns whether a lease has expired. One that ended while the store had no calls at all gets its full length again.
function lostLeases.isExpired(job, settings)
  if job.place ~= 'r' or settings.onLost == 'hold' then return false end
  local lease = record.leaseOf(job)
  local to = context.gapFrom < lease.to and math.max(lease.to, context.gapTo + lease.ms) or lease.to
  return context.now >= to + settings.lostGraceMs
end

function lostLeases.isHeld(job, settings)
  return job.place == 'r' and settings.onLost == 'hold' and context.now >= record.leaseOf(job).to
end

function lostLeases.retriesOf(job, settings)
  return tonumber(job.fields.retries) or settings.retries
end

-- Returns a job whose attempt is lost to its queue, or fails it.
function lostLeases.lost(job, settings, why)
  if settings.onLost == 'fail' then
    lifecycle.ended(job, 'x')
    lifecycle.setFailure(job, 'lost', why)
  elseif settings.lostCountsAs == 'failure' then
    lostAsFailure(job, settings, why)
  else
    lostAsCrash(job, settings, why)
  end
end

-- Ends an attempt because its lease expired or its worker was failed.
function lostLeases.endLostAttempt(job, settings, why)
  unitOfWork.touch(job)
  local lease, event = record.leaseOf(job), 'lost'
  if job.fields.cancelAskedAt then
    event = 'cancelled'
    lifecycle.ended(job, 'c')
  else
    lostLeases.lost(job, settings, why)
  end
  lifecycle.apply(job, event, { token = lease.token, by = lease.worker, note = why })
  dependencies.notifyDependentsOf(job, false)
end

-- Ends the attempts of a queue whose lease has expired. Returns how many.
function lostLeases.expireLeases(queue, limit)
  local settings = queueSettings.settingsOf(queue)
  if settings.onLost == 'hold' then return 0 end
  local members = call('ZRANGEBYSCORE', P .. 'running:' .. queue, '-inf', context.nowText, 'LIMIT', 0, limit)
  local expired, count = record.bySeqs(record.seqsOf(members)), 0
  for i = 1, #members do
    local job = expired[i]
    if job and lostLeases.isExpired(job, settings) then
      lostLeases.endLostAttempt(job, settings, 'its lease was not renewed')
      count = count + 1
    end
  end
  if count > 0 then unitOfWork.flush() end
  return count
end

return lostLeases
