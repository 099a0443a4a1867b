-- coalescing: finishes equal waiting jobs together (core/limits/coalesce.ts, core/operations/coalescing.ts).
-- uses: values, context, lifecycle, record, record-changes, unit-of-work
-- on demand: key-changes, throttles

local keyChanges = require('key-changes')
local throttles = require('throttles')
local coalescing = {}

local COMPLETIONS = { completed = true, advanced = true, forwarded = true }

local function doneWith(job, leader, event)
  lifecycle.ended(job, 'd')
  job.fields.into, job.fields.forwardedTo = leader.id, leader.fields.forwardedTo
  local isApart = leader.place == 'd' and (leader.fields.apart or ''):find('r', 1, true)
  local long = isApart and context.longTexts and context.longTexts['r' .. leader.id] or nil
  recordChanges.setText(job, 'r', leader.fields.result, long)
  lifecycle.setFailure(job, nil, nil, nil)
  lifecycle.apply(job, event == 'forwarded' and event or 'completed', { note = 'with job ' .. leader.id })
end

-- Updates the key by which equal jobs are found, and its index. A job that was only parked or promoted keeps its key.
function coalescing.updateEqualIndex(job, isInLine, coalesce)
  local key = coalesce and throttles.keyIn(job, coalesce.by) or nil
  if isInLine and not job.isChanged then key = job.fields.equal end
  if job.fields.suspended then key = nil end
  local index = key and 'equals:' .. job.queue .. ':' .. key
  job.fields.equal = key
  if index then unitOfWork.put(index, text(record.runAtOf(job)), record.hex(job)) end
  if job.oldEqual and job.oldEqual ~= index then unitOfWork.drop(job.oldEqual, record.hex(job)) end
end

-- Completes or returns the jobs that were coalesced into a job whose attempt ends. Those with dependents are listed in
-- `leader.followers`; the caller notifies their dependents.
function coalescing.followLeader(leader, event)
  leader.hadCoalesced, leader.followers = nil, {}
  local members = call('ZRANGE', P .. 'folds:' .. leader.id, 0, -1)
  for _, job in ipairs(record.bySeqs(record.seqsOf(members))) do
    if job and not job.isDeleted and job.place == 'b' and job.fields.into == leader.id then
      local hasDependents = job.fields.dependents
      unitOfWork.touch(job)
      if COMPLETIONS[event] then
        doneWith(job, leader, event)
        if hasDependents then table.insert(leader.followers, { job = job, wasUnsuccessful = false }) end
      else
        job.fields.into = nil
        lifecycle.wait(job)
        lifecycle.apply(job, 'unfolded', { note = leader.id })
        if (job.fields.unique or ''):find('^%S+ started ') then keyChanges.takeKey(job) end
      end
    end
  end
end

return coalescing
