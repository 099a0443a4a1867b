-- clock-step: a backward step of the clock: core/operations/clock-step.ts.
-- uses: values, context, queues, record, record-changes, unit-of-work
-- on demand: rates

local rates = require('rates')
local clockStep = {}

-- A delay that was counted from a time which has not come.
local function delayAhead(job)
  local delayMs = tonumber(job.fields.delayMs) or (not job.fields.runAt and 0)
  if delayMs and record.runAtOf(job) > context.now + delayMs then return delayMs end
end

local function rebase(job, from, delayMs)
  recordChanges.setRunAt(job, from + delayMs)
  job.fields.delayMs = text(delayMs)
end

-- One that stood among the ready ones may not be due; and who stood for others there may not be, so that all that are
-- parked are looked at anew.
local function rebaseJob(job)
  local place, runAt, delayMs = job.place, record.runAtOf(job), delayAhead(job)
  local isMisplaced = place == 'k' or (place == 'w' and runAt > context.now and runAt <= context.high)
  if not delayMs and not isMisplaced then return end
  unitOfWork.touch(job)
  if delayMs then rebase(job, context.stepFrom, delayMs) end
  if place ~= 'b' then job.place = 'w' end
end

-- Running leases start again, and no rate is used up beyond one period.
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

-- Jobs by insertion, some pieces of them in each call. When all were seen none stands ready that is not due.
function clockStep.rebaseSome()
  local ids, most = {}, K.REBASED_PIECES
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
