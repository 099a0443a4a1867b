-- records-get: ARGV: clock, kind, key. Returns the record, if it lives: version, expiry, time of change, value.
-- uses: clock, record
clock.readClock()

local stored = call('HGET', P .. 'records:' .. args[2], args[3])
return stored and record.isUnexpired(stored) and stored or false
