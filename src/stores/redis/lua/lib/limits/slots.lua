-- slots: the slots of throttles that a running job holds (core/operations/throttles.ts).
-- uses: context, events, record, unit-of-work
-- on demand: parking, throttles

local throttles = require('throttles')
local parking = require('parking')
local slots = {}

function slots.takeSlots(job, addresses)
  for i = 1, #addresses do context.slotCounts[addresses[i]] = throttles.held(addresses[i]) + 1 end
  job.fields.slots = #addresses > 0 and table.concat(addresses, '\30') or nil
end

-- Frees the slots of a job whose lease ends, and unparks the jobs that wait for them.
function slots.freeSlots(job)
  local slots, counted = job.fields.slots, job.fields.counted
  job.fields.slots, job.fields.counted = nil, nil
  for address in throttles.parts(slots or '') do context.slotCounts[address] = throttles.held(address) - 1 end
  for address in throttles.parts(slots or '') do
    for _, queue in ipairs(call('ZRANGE', P .. 'parks:' .. address, 0, -1)) do parking.unparkNext(address, queue) end
  end
  if counted then events.emit('freed', counted, '', '') end
end

function slots.updateSlotIndexes(job, slots, oldSlots)
  for address in throttles.parts(slots or '') do unitOfWork.put('slots:' .. address, 0, record.hex(job)) end
  for address in throttles.parts(oldSlots or '') do
    if not ('\30' .. (slots or '') .. '\30'):find('\30' .. address .. '\30', 1, true) then
      unitOfWork.drop('slots:' .. address, record.hex(job))
    end
  end
end

return slots
