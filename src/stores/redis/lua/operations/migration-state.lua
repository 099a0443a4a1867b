-- migration-state: sets the state of the store in a migration (core/ports/migration.ts), if it is the expected one.
-- ARGV: clock, expected state or '', new state or '', reason for which the store is closed or ''. Returns yes or no.
local _, before, next, closed = unpack(args)
if (call('HGET', P, 'standing') or '') ~= before then return 'no' end
write('HSET', P, 'standing', next, 'closed', closed)
return 'yes'
