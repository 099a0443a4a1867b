-- records-get: ARGV: clock, kind, key. Returns the record, if it lives: version, expiry, time of change, value.
look()

local record = call('HGET', P .. 'records:' .. ARGV[2], ARGV[3])
return record and isLiving(record) and record or false
