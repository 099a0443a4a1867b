-- everyday: what the everyday cases (swift.lua, birth.lua) know of the time and of a queue's settings, put before them.

-- The time, also as text; the last number that a counter gave; the field of the clock to write, if any; and the queues that
-- have hooks. Nothing at all when anything about the time is out of the ordinary.
local function moment(counter)
  local seen, high, last, open, closed, hooked = unpack(call('HMGET', P, 'seen', 'high', counter, 'open', 'closed', 'hooks'))
  if (open and open ~= '') or (closed and closed ~= '') then return nil end
  local mode, given = args[1]:match('^(%a*) ?(.*)$')
  local now
  if mode ~= 'store' and given ~= '' then
    now = tonumber(given)
  else
    local time = call('TIME')
    now = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  seen, high = tonumber(seen) or 0, tonumber(high) or 0
  if now % 1 ~= 0 or now < seen or now < high or now > 1e14 then return nil end
  if mode ~= 'caller' and seen > 0 and now - seen > EVERYDAY.GAP_MS then return nil end
  local field = mode ~= 'caller' and now ~= seen and 'seen' or mode == 'caller' and now > high and 'high'
  return now, ('%d'):format(now), tonumber(last) or 0, field, hooked and hooked ~= '' and hooked
end

local function over(stored, below)
  if not stored then return below end
  return setmetatable(cjson.decode(stored:match('^[^\31]*\31[^\31]*\31[^\31]*\31(.*)$')), { __index = below })
end

local function settingsOf(queue)
  local own, shared = unpack(call('HMGET', P .. 'records:queue', queue, '*'))
  return over(own, over(shared, EVERYDAY))
end

-- The last write: that nothing is under way any more, and the time.
local function close(clockField, nowText)
  if clockField then
    write('HSET', P, 'open', '', clockField, nowText)
  else
    write('HSET', P, 'open', '')
  end
end

