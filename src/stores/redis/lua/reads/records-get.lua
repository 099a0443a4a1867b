-- records-get: a record. ARGV: clock, kind, key. Returns it unless it has expired: version, expiry, time of change, value.
-- uses: clock, record
clock.readClock()

local stored = call('HGET', P .. 'records:' .. args[2], args[3])
return stored and record.isUnexpired(stored) and stored or false
