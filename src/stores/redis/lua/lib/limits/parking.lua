-- parking: jobs that are parked until a slot or a resource is free: core/operations/throttles.ts and resources.ts.
-- uses: context, events, queue-settings, record, unit-of-work
-- on demand: resources, throttles

local throttles = require('throttles')
local resources = require('resources')
local parking = {}

-- Where there are more than a claim looks at, others in every second.
local function parkedNeeds(queue)
  local key, most = P .. 'needs:' .. queue, K.MOST_NEEDS
  local found = call('ZRANGE', key, 0, most)
  if #found <= most then return found end
  local from = math.floor(context.now / K.LOOK_MS) % math.ceil(call('ZCARD', key) / most) * most
  return call('ZRANGE', key, from, from + most - 1)
end

local function needsAt(address)
  return address:match('^n:[^:]*:(.*)$')
end

-- Those that are parked, in the order of claims, go back to the ready ones. Returns how many.
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

-- A job goes without a slot: who waits behind it may have what it left. Answers whether somebody came back.
function parking.unparkBehind(job)
  local cameBack, addresses = false, throttles.throttlesOf(job, queueSettings.settingsOf(job.queue))
  for i = 1, #addresses do cameBack = parking.unparkNext(addresses[i], job.queue, job) or cameBack end
  return cameBack
end

-- The first of each kind of needs for which there is room come back into line. Answers whether any did.
function parking.unparkFitting(queue, room, but)
  local isBack = false
  for _, address in ipairs(parkedNeeds(queue)) do
    if resources.fits(needsAt(address), room) then
      isBack = parking.unpark('park:' .. queue .. ':' .. address, 1, but) > 0 or isBack
    end
  end
  return isBack
end

-- Whether a worker keeps its room for a job that has waited long enough, and that it could do.
function parking.isReserved(queue, whole, free)
  for _, address in ipairs(parkedNeeds(queue)) do
    local needs = needsAt(address)
    if resources.fits(needs, whole) and not resources.fits(needs, free) then
      local member = call('ZRANGE', P .. 'park:' .. queue .. ':' .. address, 0, 0)
      local first = record.bySeqs(record.seqsOf(member))[1]
      local isDue = first and first.place == 'k' and context.now - record.readySince(first) >= K.PATIENCE_MS
      if isDue and not throttles.fullAmong(throttles.throttlesOf(first, queueSettings.settingsOf(queue))) then return true end
    end
  end
  return false
end

return parking
