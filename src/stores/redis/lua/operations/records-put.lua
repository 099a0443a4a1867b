-- records-put: writes a record. ARGV: clock, kind, key, value, expected version or '', expiry or ''.
-- Returns the new version or a refusal. Versions come from one counter, so that none is given twice.
-- uses: values, context, events, operation, record, record-events, webhook-queues
-- on demand: limit-changes
local _, kind, key, value, ifVersion, expiresAt = unpack(args)
local isLimiting = kind == 'queue' or kind == 'throttle'
operation.begin()
local known = call('HGET', P .. 'records:' .. kind, key)
local version = known and record.isUnexpired(known) and known:match('^[^\31]*') or '0'
if ifVersion ~= '' and tonumber(ifVersion) ~= tonumber(version) then return '!version-conflict' end

if isLimiting then
  require('limit-changes').settingsChanged(kind, key, known and known:match('^[^\31]*\31[^\31]*\31[^\31]*\31(.*)$'), value)
end
local hasWebhooks = webhookQueues.hasWebhooks(kind, value)
if hasWebhooks then webhookQueues.mark(key, true) end
local address = kind .. '\31' .. key
version = text(write('HINCRBY', P, 'version', 1))
if expiresAt ~= '' then write('ZADD', P .. 'expiring', expiresAt, address) end
write('ZADD', P .. 'names:' .. kind, 0, key)
write('HSET', P .. 'records:' .. kind, key, table.concat({ version, expiresAt, context.nowText, value }, '\31'))
if expiresAt == '' then write('ZREM', P .. 'expiring', address) end
if kind == 'queue' then
  if not hasWebhooks then webhookQueues.mark(key, false) end
  recordEvents.emitSettings(key)
end
if kind == 'tracked' then recordEvents.emitTracked(key, 'tracked') end
events.publish()
return version
