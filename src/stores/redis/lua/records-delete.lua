-- records-delete: ARGV: clock, kind, key, the version it must have or ''. Returns ok or a refusal.
look()

local _, kind, key, ifVersion = unpack(ARGV)
local known = call('HGET', P .. 'records:' .. kind, key)
if not known or not isLiving(known) then return '!not-found' end
if ifVersion ~= '' and tonumber(ifVersion) ~= tonumber(match(known, '^[^\31]*')) then return '!version-conflict' end

write('HDEL', P .. 'records:' .. kind, key)
write('ZREM', P .. 'names:' .. kind, key)
write('ZREM', P .. 'expiring', kind .. '\31' .. key)
if kind == 'queue' then
  emit('queue', key, '', '')
  publish()
end
return 'ok'
