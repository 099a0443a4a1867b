-- limit-changes: what follows when a limit is changed: core/operations/throttles.ts.
-- uses: values, context, events, queues, unit-of-work
-- on demand: parking, rates, throttles

local throttles = require('throttles')
local parking = require('parking')
local rates = require('rates')
local limitChanges = {}

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

-- What a queue's jobs were parked for may no longer be so, and what is not limited is forgotten. `old` and `new` are
-- what it says itself and what the global record says.
local function queueChanged(queue, old, new)
  local before, after, keys, rate = limitsText(old[1], old[2]), limitsText(new[1], new[2])
  if before ~= after then parking.unpark('parked:' .. queue, math.huge) end
  if not keys and call('HEXISTS', P .. 'paces', queue) == 1 then write('HDEL', P .. 'paces', queue) end
  if not keys and call('EXISTS', P .. 'turns:' .. queue) == 1 then write('DEL', P .. 'turns:' .. queue) end
  if not rate and call('HEXISTS', P .. 'rates', queue) == 1 then write('HDEL', P .. 'rates', queue) end
  if rate then rates.fitRate(queue, rate) end
end

-- Somebody set the maximum anew: as many go back as there is room.
local function throttleChanged(name, max)
  local address = 't:' .. name
  local room = max and max - throttles.held(address) or math.huge
  for _, queue in ipairs(room > 0 and call('ZRANGE', P .. 'parks:' .. address, 0, -1) or {}) do
    if parking.unpark('park:' .. queue .. ':' .. address, room) > 0 then events.emit('freed', queue, '', '') end
  end
end

-- Before a record of this kind is written or deleted; `old` and `new` are its values. What is let in too early, were
-- the record not to follow, is parked again by the next claim.
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
    throttleChanged(key, new and cjson.decode(new).max)
  end
  if #context.touched > 0 then unitOfWork.flush() end
end

return limitChanges
