-- parking: jobs that are parked until a slot or a resource is free (core/operations/throttles.ts, resources.ts).
-- uses: events, queue-settings, record, unit-of-work
-- on demand: throttles

local throttles = require('throttles')
local parking = {}

-- Returns parked jobs to the ready index, in claim order. Returns how many.
function parking.unpark(key, limit, but)
  local offset, back = 0, 0
  while back < limit do
    local members = call('ZRANGE', P .. key, offset, offset + math.min(limit - back, 1000) - 1)
    if #members == 0 then return back end
    local found = record.bySeqs(record.seqsOf(members))
    offset = offset + #members
    for i = 1, #members do
      local job = found[i]
      if job and job ~= but and job.place == 'k' then
        unitOfWork.touch(job)
        job.place = 'w'
        back = back + 1
      end
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
