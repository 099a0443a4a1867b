-- clock-step: follows a backward step of the clock (core/operations/clock-step.ts).
-- uses: values, context, queues, record, record-changes, unit-of-work
-- on demand: rates

local rates = require('rates')
local clockStep = {}

-- Returns the delay of a job if it was counted from a time that lies ahead.
local function delayAhead(job)
  local delayMs = tonumber(job.fields.delayMs) or (not job.fields.runAt and 0)
  if delayMs and record.runAtOf(job) > context.now + delayMs then return delayMs end
end

local function rebase(job, from, delayMs)
  recordChanges.setRunAt(job, from + delayMs)
  job.fields.delayMs = text(delayMs)
end

-- Rebases a waiting job. A ready job may no longer be due, and a parked one may be behind such a job: both are indexed anew.
local function rebaseJob(job)
  local place, runAt, delayMs = job.place, record.runAtOf(job), delayAhead(job)
  local isMisplaced = place == 'k' or (place == 'w' and runAt > context.now and runAt <= context.high)
  if not delayMs and not isMisplaced then return end
  unitOfWork.touch(job)
  if delayMs then rebase(job, context.stepFrom, delayMs) end
  if place ~= 'b' then job.place = 'w' end
end

-- Restarts the running leases, and limits the rates to one period.
function clockStep.stepBack()
  for _, job in ipairs(queues.runningJobs()) do
    unitOfWork.touch(job)
    local lease, delayMs = record.leaseOf(job), delayAhead(job)
    lease.to = context.now + lease.ms
    recordChanges.setLease(job, lease)
    if delayMs then rebase(job, context.now, delayMs) end
  end
  rates.fitRates()
  context.stepFrom, context.stepAfter = context.now, -1
end

-- Rebases some pieces of the index by insertion in each call. After the last one, no ready job is not due.
function clockStep.rebaseSome()
  local ids, most = {}, K.MAX_REBASED_PIECES
  local pieces = call('ZRANGEBYSCORE', P .. 's', '(' .. text(context.stepAfter), '+inf', 'LIMIT', 0, most)
  for i = 1, #pieces do
    local found = call('HGETALL', P .. 's:' .. pieces[i])
    for k = 2, #found, 2 do ids[#ids + 1] = found[k] end
  end
  record.load(ids)
  for i = 1, #ids do
    local job = context.jobs[ids[i]]
    if job and STATE[job.place] == 'waiting' then rebaseJob(job) end
  end
  if #pieces < most then
    context.stepFrom, context.high, context.isBehind, context.isHighLowered = nil, context.now, false, true
  else
    context.stepAfter = tonumber(pieces[most])
  end
  unitOfWork.flush()
end

return clockStep
