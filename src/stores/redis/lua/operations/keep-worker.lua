-- keep-worker: registers a worker or renews its registration. ARGV: clock, id, register or renew, length of its lease, and its
-- view. Returns the end of the registration, or a refusal.
-- uses: values, context, operation, unit-of-work
operation.begin()

local _, id, kind, leaseMs, shown = unpack(args)
local known = call('HGET', P .. 'workers', id)
unitOfWork.flush()
if kind == 'renew' and not known then return '!worker-lost' end
local registeredAt, to = known and known:match('^[^\31]*') or context.nowText, text(context.now + leaseMs)
write('HSET', P .. 'workers', id, table.concat({ registeredAt, context.nowText, to, shown }, '\31'))
return to
