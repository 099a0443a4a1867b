-- records-list: the living records of a kind, in the order of their keys' bytes.
-- ARGV: clock, kind, prefix or '', the key to go on from with = before it or '', limit. Returns key and record of each.
look()

local _, kind, prefix, after, limit = unpack(ARGV)
limit = tonumber(limit)
local from = '[' .. prefix
if after ~= '' and not isByteBefore(sub(after, 2), prefix) then from = '(' .. sub(after, 2) end

local answer = {}
while #answer < 2 * limit do
  local names = call('ZRANGEBYLEX', P .. 'names:' .. kind, from, '+', 'LIMIT', 0, limit)
  local records = readMany('HMGET', 'records:' .. kind, names)
  for i = 1, #names do
    if sub(names[i], 1, #prefix) ~= prefix then return answer end
    if records[i] and isLiving(records[i]) and #answer < 2 * limit then
      answer[#answer + 1] = names[i]
      answer[#answer + 1] = records[i]
    end
  end
  if #names < limit then return answer end
  from = '(' .. names[#names]
end
return answer
