-- epoch: the first script on every connection. It tells whether the server is the primary, and starts a new epoch if another
-- server was written to before: a promoted or restarted server may have lost the last writes, and with them tokens and versions
-- that callers still hold. In a new epoch both continue far above all earlier ones.
-- ARGV: schema, the highest epoch that the caller knows, and `create` if a store may be created.
-- Returns the schema (nil without a store), the epoch, and for a replica the address of its primary.
local info = redis.pcall('INFO', 'replication')
if type(info) ~= 'string' then info = '' end
local id = info:match('master_replid:(%x+)')
if info:find('role:slave') then return { '', '0', info:match('master_host:(%C+)') .. ':' .. info:match('master_port:(%d+)') } end
if args[3] == 'create' then write('HSETNX', P, 'schema', args[1]) end
local schema, known, epoch, token, version = unpack(call('HMGET', P, 'schema', 'reignOf', 'reign', 'token', 'version'))
local seen = tonumber(args[2])
epoch = tonumber(epoch) or 0
if schema == args[1] and id and (known ~= id or epoch < seen) then
  local floor = 0
  if known or seen > 0 then
    -- The clock is a lower bound: an epoch that was lost entirely is known neither here nor to a new caller.
    epoch = math.max(epoch + 1, seen + 1, math.floor(call('TIME')[1] / 10))
    floor = epoch * 4194304
  end
  epoch = math.max(epoch, 1)
  write('HSET', P, 'reignOf', id, 'reign', ('%d'):format(epoch),
    'token', ('%d'):format(math.max(tonumber(token) or 0, floor)),
    'version', ('%d'):format(math.max(tonumber(version) or 0, floor)))
end
return { schema, ('%d'):format(epoch), '' }
