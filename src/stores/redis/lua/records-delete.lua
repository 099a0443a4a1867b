-- records-delete: ARGV: clock, kind, key, the version it must have or ''. Returns ok or a refusal.
clock.look()

local _, kind, key, ifVersion = unpack(args)
local known = call('HGET', P .. 'records:' .. kind, key)
if not known or not record.isLiving(known) then return '!not-found' end
if ifVersion ~= '' and tonumber(ifVersion) ~= tonumber(known:match('^[^\31]*')) then return '!version-conflict' end

write('ZREM', P .. 'names:' .. kind, key)
write('ZREM', P .. 'expiring', kind .. '\31' .. key)
write('HDEL', P .. 'records:' .. kind, key)
if kind == 'queue' then
  work.emit('queue', key, '', '')
  work.publish()
end
return 'ok'
