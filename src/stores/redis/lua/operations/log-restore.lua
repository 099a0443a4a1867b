-- log-restore: writes the log of an ended attempt as another store had it, in a migration. ARGV: clock, id, attempt, queue, time
-- of its last write, the log. Does nothing if the job does not exist or has the log already.
-- uses: context, record
-- on demand: stored-logs
local _, id, attempt, queue, at, body = unpack(args)
record.load({ id })
if not context.jobs[id] or call('EXISTS', P .. 'log:' .. id .. ':' .. attempt) == 1 then return 'no' end
require('stored-logs').restore(id, attempt, queue, at, body)
return 'ok'
