-- coalescing: core/limits/coalesce.ts and core/operations/coalescing.ts.
-- uses: values, context, lifecycle, record, record-changes, unit-of-work
-- on demand: parking, throttles, unique-keys

local uniqueKeys = require('unique-keys')
local throttles = require('throttles')
local parking = require('parking')
local coalescing = {}

local COMPLETIONS = { completed = true, advanced = true, forwarded = true }

local function releaseKey(job)
  local unique = uniqueKeys.uniqueOf(job)
  if not unique or unique.ends ~= 'started' then return end
  local address = uniqueKeys.keyAddress(unique, job.queue)
  uniqueKeys.note(address)
  uniqueKeys.release(address, job.id)
end

local function isEqual(job, leader, coalesce, key)
  return job and job ~= leader and not job.isDeleted and job.queue == leader.queue and job.place ~= 'b'
    and STATE[job.place] == 'waiting' and record.runAtOf(job) <= context.now and throttles.keyIn(job, coalesce.by) == key
end

local function doneWith(job, leader, event)
  lifecycle.ended(job, 'd')
  job.fields.into, job.fields.forwardedTo = leader.id, leader.fields.forwardedTo
  local isApart = leader.place == 'd' and (leader.fields.apart or ''):find('r', 1, true)
  recordChanges.setText(job, 'r', leader.fields.result, isApart and context.longTexts and context.longTexts['r' .. leader.id] or nil)
  lifecycle.setFailure(job, nil, nil, nil)
  lifecycle.apply(job, event == 'forwarded' and event or 'completed', { note = 'with job ' .. leader.id })
end

-- The key by which its equals find a job while it stands in line, and the index of that key. One of which there is no
-- news, since it is only parked or has come to its time, keeps what it has.
function coalescing.updateEqualIndex(job, isInLine, coalesce)
  local key = coalesce and throttles.keyIn(job, coalesce.by) or nil
  if isInLine and not job.isNews then key = job.fields.equal end
  local index = key and 'equals:' .. job.queue .. ':' .. key
  job.fields.equal = key
  if index then unitOfWork.put(index, text(record.runAtOf(job)), record.hex(job)) end
  if job.oldEqual and job.oldEqual ~= index then unitOfWork.drop(job.oldEqual, record.hex(job)) end
end

-- Those that are equal to a job which has just been started are folded into it. Returns how many.
function coalescing.coalesceAll(leader, coalesce)
  local key, count = throttles.keyIn(leader, coalesce.by), 0
  if not key then return 0 end
  local index = P .. 'equals:' .. leader.queue .. ':' .. key
  local members = call('ZRANGEBYSCORE', index, '-inf', context.nowText, 'LIMIT', 0, K.MAX_FOLDED + 1)
  for _, job in ipairs(record.bySeqs(record.seqsOf(members))) do
    if count < K.MAX_FOLDED and isEqual(job, leader, coalesce, key) then
      unitOfWork.touch(job)
      parking.unparkBehind(job)
      job.fields.into, count = leader.id, count + 1
      lifecycle.wait(job)
      lifecycle.apply(job, 'folded', { note = leader.id })
      releaseKey(job)
    end
  end
  recordChanges.setNumber(leader, 'folded', count)
  return count
end

-- The attempt of a job has ended: what was folded into it is done with it, or comes back. Those that others wait for
-- are noted in the job, for whoever tells them.
function coalescing.followLeader(leader, event)
  leader.hadFolded, leader.followers = nil, {}
  local members = call('ZRANGE', P .. 'folds:' .. leader.id, 0, -1)
  for _, job in ipairs(record.bySeqs(record.seqsOf(members))) do
    if job and not job.isDeleted and job.place == 'b' and job.fields.into == leader.id then
      local hasDependents = job.fields.dependents
      unitOfWork.touch(job)
      if COMPLETIONS[event] then
        doneWith(job, leader, event)
        if hasDependents then table.insert(leader.followers, { job = job, wasBad = false }) end
      else
        job.fields.into = nil
        lifecycle.wait(job)
        lifecycle.apply(job, 'unfolded', { note = leader.id })
        if (job.fields.unique or ''):find('^%S+ started ') then uniqueKeys.takeKey(job) end
      end
    end
  end
end

return coalescing
