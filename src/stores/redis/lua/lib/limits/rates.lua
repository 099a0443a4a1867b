-- rates: the rule of rate limits, and the rate limit of a queue (core/limits/rate.ts).
-- uses: values, context, queue-settings, queues

local rates = {}

local TOLERANCE_MS = 0.01

local function clampedRateAt(at, rate)
  return math.min(at, context.now + rate.ms)
end

local function fullAt(at, rate)
  return math.max(context.now, clampedRateAt(at, rate))
end

local function tokens(at, rate)
  return (context.now + rate.ms - fullAt(at, rate) + TOLERANCE_MS) / (rate.ms / rate.count)
end

function rates.rateAfter(at, rate, cost)
  return fullAt(at, rate) + (cost * rate.ms) / rate.count
end

function rates.rateNextAt(at, rate, cost)
  if tokens(at, rate) >= cost then return nil end
  return math.max(context.now + 1, math.ceil(rates.rateAfter(at, rate, cost) - rate.ms - TOLERANCE_MS))
end

local function rateAt(queue)
  return number(call('HGET', P .. 'rates', queue))
end

-- After a change of the rate or of the clock: limits the stored time to one period of the rate.
function rates.fitRate(queue, rate)
  local at = rateAt(queue)
  local fitted = clampedRateAt(at, rate)
  if fitted ~= at then write('HSET', P .. 'rates', queue, text(fitted)) end
end

-- After a step back of the clock: the times of buckets (buckets.lua) that were written ahead count from now.
local function rebaseBuckets()
  for _, address in ipairs(call('ZRANGE', P .. 'bucket-ends', 0, -1)) do
    local stored = call('HGET', P .. 'j', '!' .. address) or ''
    local at, to, seen, version = stored:match('^(%S+) (%S+) (%S+) (%S+)$')
    local ahead = (seen or context.now) - context.now
    if ahead > 0 then
      at, to = at - ahead, to - ahead
      write('HSET', P .. 'j', '!' .. address, table.concat({ text(at), text(to), context.nowText, version }, ' '))
      write('ZADD', P .. 'bucket-ends', text(math.max(at, to)), address)
    end
  end
  for _, queue in ipairs(queues.queueNames()) do
    local key = P .. 'needs:' .. queue
    for _, park in ipairs(call('ZRANGEBYSCORE', key, '(' .. context.nowText, '+inf')) do write('ZADD', key, context.nowText, park) end
  end
end

function rates.fitRates()
  for _, queue in ipairs(call('HKEYS', P .. 'rates')) do
    local rate = orNil(queueSettings.settingsOf(queue).rate)
    if rate then rates.fitRate(queue, rate) end
  end
  rebaseBuckets()
end

function rates.countStarts(queue, rate, started)
  write('HSET', P .. 'rates', queue, text(rates.rateAfter(rateAt(queue), rate, started)))
end

-- Returns when the next job of a queue may start, or nil if one may start now.
function rates.nextStart(queue, rate)
  return rates.rateNextAt(rateAt(queue), rate, 1)
end

-- Returns how many jobs the queue's own limits allow to start now. Earlier changes of the call must be written.
function rates.roomIn(queue, settings)
  local most, rate = orNil(settings.maxRunning), orNil(settings.rate)
  local room = most and most - call('ZCARD', P .. 'running:' .. queue) or math.huge
  return rate and math.min(room, math.floor(tokens(rateAt(queue), rate))) or room
end

return rates
