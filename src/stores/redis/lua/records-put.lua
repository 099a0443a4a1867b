-- records-put: ARGV: clock, kind, key, value, the version it must have or '', expiry or ''.
-- Returns the new version or a refusal. Versions come from one counter, so that none is ever given twice.
local _, kind, key, value, ifVersion, expiresAt = unpack(args)
local isLimiting = kind == 'queue' or kind == 'throttle'
if isLimiting then begin() else clock.look() end
local known = call('HGET', P .. 'records:' .. kind, key)
local version = known and record.isLiving(known) and known:match('^[^\31]*') or '0'
if ifVersion ~= '' and tonumber(ifVersion) ~= tonumber(version) then return '!version-conflict' end

if isLimiting then
  throttles.recordChanges(kind, key, known and known:match('^[^\31]*\31[^\31]*\31[^\31]*\31(.*)$'), value)
end
local isHooked = outbox.isHooked(kind, value)
if isHooked then outbox.mark(key, true) end
local address = kind .. '\31' .. key
version = text(write('HINCRBY', P, 'version', 1))
if expiresAt ~= '' then write('ZADD', P .. 'expiring', expiresAt, address) end
write('ZADD', P .. 'names:' .. kind, 0, key)
write('HSET', P .. 'records:' .. kind, key, table.concat({ version, expiresAt, clock.nowText, value }, '\31'))
if expiresAt == '' then write('ZREM', P .. 'expiring', address) end
if kind == 'queue' then
  if not isHooked then outbox.mark(key, false) end
  census.tellSettings(key)
end
if kind == 'tracked' then rare.marked(key, 'tracked') end
work.publish()
return version
