-- limit-changes: unparks jobs after a change of their limits (core/operations/throttles.ts).
-- uses: values, context, events, queues, unit-of-work
-- on demand: parking, rates, throttles

local throttles = require('throttles')
local parking = require('parking')
local rates = require('rates')
local limitChanges = {}

-- Returns the limits in settings as a text that can be compared, their keys and their rate.
local function limitsText(value, shared)
  local settings = setmetatable(value and cjson.decode(value) or {}, { __index = shared and cjson.decode(shared) or {} })
  local keys, names = orNil(settings.keys), settings.throttles or {}
  local by = keys and table.concat(keys.by, '\31') .. '\30' .. (orNil(keys.limit) or '') or ''
  return by .. '\30' .. table.concat(names, '\31'), keys, orNil(settings.rate)
end

local function settingsIn(key)
  local stored = call('HGET', P .. 'records:queue', key)
  return stored and stored:match('^[^\31]*\31[^\31]*\31[^\31]*\31(.*)$')
end

-- Unparks the jobs of a queue whose limits change, and deletes the state of limits that no longer exist. `old` and `new`
-- are pairs: the queue's own settings and the global ones.
local function queueChanged(queue, old, new)
  local before, after, keys, rate = limitsText(old[1], old[2]), limitsText(new[1], new[2])
  if before ~= after then parking.unpark('parked:' .. queue, math.huge) end
  if not keys and call('HEXISTS', P .. 'paces', queue) == 1 then write('HDEL', P .. 'paces', queue) end
  if not keys and call('EXISTS', P .. 'turns:' .. queue) == 1 then write('DEL', P .. 'turns:' .. queue) end
  if not rate and call('HEXISTS', P .. 'rates', queue) == 1 then write('HDEL', P .. 'rates', queue) end
  if rate then rates.fitRate(queue, rate) end
end

-- Unparks as many jobs as the new maximum of a throttle allows. Its buckets are full and open: the jobs parked under them are
-- checked again.
local function throttleChanged(name, max)
  local address = 't:' .. name
  for _, queue in ipairs(queues.queueNames()) do
    local key, start = P .. 'needs:' .. queue, 'r:' .. queue .. ':' .. address .. ' '
    for _, park in ipairs(call('ZRANGEBYSCORE', key, '(0', '+inf')) do
      if (park .. ' '):sub(1, #start) == start then
        write('ZADD', key, context.nowText, park)
        events.emit('freed', queue, '', '')
      end
    end
  end
  local room = max and max - throttles.held(address) or math.huge
  for _, queue in ipairs(room > 0 and call('ZRANGE', P .. 'parks:' .. address, 0, -1) or {}) do
    if parking.unpark('park:' .. queue .. ':' .. address, room) > 0 then events.emit('freed', queue, '', '') end
  end
end

-- Runs before a record is written or deleted; `old` and `new` are its values. If the record is not written after all, the
-- next claim parks the jobs again.
function limitChanges.settingsChanged(kind, key, old, new)
  if kind == 'queue' and key == '*' then
    for _, queue in ipairs(queues.queueNames()) do
      local own = settingsIn(queue)
      queueChanged(queue, { own, old }, { own, new })
    end
  elseif kind == 'queue' then
    local shared = settingsIn('*')
    queueChanged(key, { old, shared }, { new, shared })
  else
    throttleChanged(key, new and orNil(cjson.decode(new).max))
  end
  if #context.touched > 0 then unitOfWork.flush() end
end

return limitChanges
