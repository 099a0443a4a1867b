-- fitting: parked jobs that fit into the free capacity of a worker (core/operations/resources.ts).
-- uses: context, queue-settings, record
-- on demand: buckets, parking, resources, throttles

local throttles = require('throttles')
local resources = require('resources')
local parking = require('parking')
local fitting = {}

-- Returns addresses of needs under which jobs are parked. If there are too many, it rotates through them by the second.
local function parkedNeeds(queue)
  local key, most = P .. 'needs:' .. queue, K.MAX_NEEDS
  local found = call('ZRANGEBYSCORE', key, 0, 0, 'LIMIT', 0, most + 1)
  if #found <= most then return found end
  local from = math.floor(context.now / K.NEEDS_ROTATION_MS) % math.ceil(call('ZCOUNT', key, 0, 0) / most) * most
  return call('ZRANGEBYSCORE', key, 0, 0, 'LIMIT', from, most)
end

local function needsAt(address)
  return address:match('^n:[^:]*:(.*)$')
end

-- Unparks the first job of each kind of needs that fits. Returns whether any was unparked.
function fitting.unparkFitting(queue, room, but)
  local isBack = false
  for _, address in ipairs(parkedNeeds(queue)) do
    if resources.fits(needsAt(address), room) then
      isBack = parking.unpark('park:' .. queue .. ':' .. address, 1, but) > 0 or isBack
    end
  end
  return isBack
end

-- Returns whether a worker reserves its capacity for a large job that has waited long enough.
function fitting.isReserved(queue, whole, free)
  for _, address in ipairs(parkedNeeds(queue)) do
    local needs = needsAt(address)
    if resources.fits(needs, whole) and not resources.fits(needs, free) then
      local member = call('ZRANGE', P .. 'park:' .. queue .. ':' .. address, 0, 0)
      local first = record.bySeqs(record.seqsOf(member))[1]
      local isDue = first and first.place == 'k' and context.now - record.readySince(first) >= K.PATIENCE_MS
      local addresses = isDue and throttles.throttlesOf(first, queueSettings.settingsOf(queue))
      if isDue and not throttles.fullAmong(addresses) then
        local _, closed = require('buckets').closedAmong(first, addresses)
        if not closed then return true end
      end
    end
  end
  return false
end

return fitting
