-- records-list: the unexpired records of a kind, in the byte order of their keys.
-- ARGV: clock, kind, prefix or '', the key to continue from with = before it or '', limit. Returns key and record of each.
-- uses: clock, queues, record
clock.readClock()

local _, kind, prefix, after, limit = unpack(args)
limit = tonumber(limit)
local PAGE = math.max(1, math.min(limit, 1000))
local from = '[' .. prefix
if after ~= '' and not queues.isByteBefore(after:sub(2), prefix) then from = '(' .. after:sub(2) end

local answer = {}
while #answer < 2 * limit do
  local names = call('ZRANGEBYLEX', P .. 'names:' .. kind, from, '+', 'LIMIT', 0, PAGE)
  local stored = #names > 0 and call('HMGET', P .. 'records:' .. kind, unpack(names)) or {}
  for i = 1, #names do
    if names[i]:sub(1, #prefix) ~= prefix then return answer end
    if stored[i] and record.isUnexpired(stored[i]) and #answer < 2 * limit then
      answer[#answer + 1] = names[i]
      answer[#answer + 1] = stored[i]
    end
  end
  if #names < PAGE then return answer end
  from = '(' .. names[#names]
end
return answer
