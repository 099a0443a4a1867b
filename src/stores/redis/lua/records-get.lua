-- records-get: ARGV: clock, kind, key. Returns the record, if it lives: version, expiry, time of change, value.
clock.look()

local stored = call('HGET', P .. 'records:' .. args[2], args[3])
return stored and record.isLiving(stored) and stored or false
