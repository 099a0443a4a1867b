-- rates: the rate limit of a queue (core/limits/rate.ts).
-- uses: values, context, queue-settings

local rates = {}

local TOLERANCE_MS = 0.01

local function clampedRateAt(queue, rate)
  local at = number(call('HGET', P .. 'rates', queue))
  return math.min(at, context.now + rate.ms), at
end

local function fullAt(queue, rate)
  return math.max(context.now, (clampedRateAt(queue, rate)))
end

-- After a change of the rate or of the clock: limits the stored time to one period of the rate.
function rates.fitRate(queue, rate)
  local fitted, at = clampedRateAt(queue, rate)
  if fitted ~= at then write('HSET', P .. 'rates', queue, text(fitted)) end
end

function rates.fitRates()
  for _, queue in ipairs(call('HKEYS', P .. 'rates')) do
    local rate = orNil(queueSettings.settingsOf(queue).rate)
    if rate then rates.fitRate(queue, rate) end
  end
end

function rates.rateRoom(queue, rate)
  return math.floor((context.now + rate.ms - fullAt(queue, rate) + TOLERANCE_MS) / (rate.ms / rate.count))
end

function rates.countStarts(queue, rate, started)
  write('HSET', P .. 'rates', queue, text(fullAt(queue, rate) + (started * rate.ms) / rate.count))
end

function rates.rateNextAt(queue, rate)
  if rates.rateRoom(queue, rate) > 0 then return nil end
  return math.max(context.now + 1, math.ceil(fullAt(queue, rate) + rate.ms / rate.count - rate.ms - TOLERANCE_MS))
end

-- Returns how many jobs the queue's own limits allow to start now. Earlier changes of the call must be written.
function rates.roomIn(queue, settings)
  local most, rate = orNil(settings.maxRunning), orNil(settings.rate)
  local room = most and most - call('ZCARD', P .. 'running:' .. queue) or math.huge
  return rate and math.min(room, rates.rateRoom(queue, rate)) or room
end

return rates
