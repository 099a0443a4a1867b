-- equal-jobs: coalesces equal jobs when one of them is claimed (core/operations/coalescing.ts).
-- uses: context, lifecycle, record, record-changes, unit-of-work
-- on demand: key-changes, parking, throttles, unique-keys

local keyChanges = require('key-changes')
local uniqueKeys = require('unique-keys')
local throttles = require('throttles')
local parking = require('parking')
local equalJobs = {}

local function releaseKey(job)
  local unique = uniqueKeys.uniqueOf(job)
  if not unique or unique.ends ~= 'started' then return end
  local address = uniqueKeys.keyAddress(unique, job.queue)
  keyChanges.note(address)
  keyChanges.release(address, job.id)
end

local function isEqual(job, leader, coalesce, key)
  return job and job ~= leader and not job.isDeleted and job.queue == leader.queue and job.place ~= 'b'
    and STATE[job.place] == 'waiting' and (coalesce.scheduled or record.runAtOf(job) <= context.now)
    and throttles.keyIn(job, coalesce.by) == key
end

-- Coalesces the jobs that are equal to a job which was just claimed. Returns how many.
function equalJobs.coalesceAll(leader, coalesce)
  local key, count = throttles.keyIn(leader, coalesce.by), 0
  if not key or leader.fields.suspended then return 0 end
  local index = P .. 'equals:' .. leader.queue .. ':' .. key
  local latest = coalesce.scheduled and '+inf' or context.nowText
  local members = call('ZRANGEBYSCORE', index, '-inf', latest, 'LIMIT', 0, K.MAX_COALESCED + 1)
  for _, job in ipairs(record.bySeqs(record.seqsOf(members))) do
    if count < K.MAX_COALESCED and isEqual(job, leader, coalesce, key) then
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

return equalJobs
