-- keep-worker: a worker says that it is there. ARGV: clock, id, register or renew, length of its lease, and what is shown of it.
-- Returns until when it is believed, or a refusal.
begin()

local _, id, kind, leaseMs, shown = unpack(ARGV)
local known = call('HGET', P .. 'workers', id)
local answer = '!worker-lost'
if known or kind ~= 'renew' then
  local registeredAt = known and match(known, '^[^\31]*') or text(now)
  answer = text(now + leaseMs)
  write('HSET', P .. 'workers', id, concat({ registeredAt, text(now), answer, shown }, '\31'))
end
flush()
return answer
