-- moving-stand: where the store stands in a move (core/ports/migration.ts), if it stands as the caller thinks.
-- ARGV: clock, how it stands or '', how it is to stand or '', why it takes no changes then or ''. Returns yes or no.
local _, before, next, closed = unpack(args)
if (call('HGET', P, 'standing') or '') ~= before then return 'no' end
write('HSET', P, 'standing', next, 'closed', closed)
return 'yes'
