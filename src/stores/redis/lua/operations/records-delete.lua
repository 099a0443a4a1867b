-- records-delete: deletes a record. ARGV: clock, kind, key, expected version or ''. Returns ok or a refusal.
-- uses: events, operation, record, record-events, webhook-queues
-- on demand: limit-changes
local _, kind, key, ifVersion = unpack(args)
local isLimiting = kind == 'queue' or kind == 'throttle'
operation.begin()
local known = call('HGET', P .. 'records:' .. kind, key)
if not known or not record.isUnexpired(known) then return '!not-found' end
if ifVersion ~= '' and tonumber(ifVersion) ~= tonumber(known:match('^[^\31]*')) then return '!version-conflict' end

if isLimiting then
  require('limit-changes').settingsChanged(kind, key, known:match('^[^\31]*\31[^\31]*\31[^\31]*\31(.*)$'), nil)
end
write('ZREM', P .. 'names:' .. kind, key)
write('ZREM', P .. 'expiring', kind .. '\31' .. key)
write('HDEL', P .. 'records:' .. kind, key)
if kind == 'queue' then
  webhookQueues.mark(key, false)
  recordEvents.emitSettings(key)
end
if kind == 'tracked' then recordEvents.emitTracked(key, 'untracked') end
events.publish()
return 'ok'
