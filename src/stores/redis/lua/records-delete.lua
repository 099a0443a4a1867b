-- records-delete: ARGV: clock, kind, key, the version it must have or ''. Returns ok or a refusal.
local _, kind, key, ifVersion = unpack(args)
local isLimiting = kind == 'queue' or kind == 'throttle'
if isLimiting then begin() else clock.look() end
local known = call('HGET', P .. 'records:' .. kind, key)
if not known or not record.isLiving(known) then return '!not-found' end
if ifVersion ~= '' and tonumber(ifVersion) ~= tonumber(known:match('^[^\31]*')) then return '!version-conflict' end

if isLimiting then throttles.recordChanges(kind, key, known:match('^[^\31]*\31[^\31]*\31[^\31]*\31(.*)$'), nil) end
write('ZREM', P .. 'names:' .. kind, key)
write('ZREM', P .. 'expiring', kind .. '\31' .. key)
write('HDEL', P .. 'records:' .. kind, key)
if kind == 'queue' then
  outbox.mark(key, false)
  census.tellSettings(key)
end
if kind == 'tracked' then rare.marked(key, 'untracked') end
work.publish()
return 'ok'
