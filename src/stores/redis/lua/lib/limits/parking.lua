-- parking: jobs that are parked until a slot or a resource is free (core/operations/throttles.ts, resources.ts).
-- uses: events, queue-settings, record, unit-of-work
-- on demand: throttles

local throttles = require('throttles')
local parking = {}

-- Returns a reader of an index of parked jobs. It reads more at a time the more are wanted, and continues where it was until the
-- changes are written: a settlement may free many slots, one after the other.
local function readerOf(key, limit)
  local readers = unitOfWork.pending('parkedReaders')
  if readers[key] then return readers[key] end
  local found, at, offset, size = {}, 0, 0, math.min(limit, 1000)
  readers[key] = function()
    at = at + 1
    if at > #found then
      found, at = record.bySeqs(record.seqsOf(call('ZRANGE', P .. key, offset, offset + size - 1))), 1
      offset, size = offset + #found, math.min(4 * size, 1000)
    end
    return found[at]
  end
  return readers[key]
end

-- Returns parked jobs to the ready index, in claim order. Returns how many.
function parking.unpark(key, limit, but)
  local nextJob, back = readerOf(key, limit), 0
  while back < limit do
    local job = nextJob()
    if job == nil then return back end
    if job and job ~= but and job.place == 'k' then
      unitOfWork.touch(job)
      job.place = 'w'
      back = back + 1
    end
  end
  return back
end

function parking.unparkNext(address, queue, but)
  if throttles.isFull(address) or parking.unpark('park:' .. queue .. ':' .. address, 1, but) == 0 then return false end
  events.emit('freed', queue, '', '')
  return true
end

-- Unparks jobs behind one that leaves without taking a slot. Returns whether any was unparked.
function parking.unparkBehind(job)
  local cameBack, addresses = false, throttles.throttlesOf(job, queueSettings.settingsOf(job.queue))
  for i = 1, #addresses do cameBack = parking.unparkNext(addresses[i], job.queue, job) or cameBack end
  return cameBack
end

return parking
