-- reign: asked first on every connection. Whether this server is the primary, and whether it is the one that was
-- written to before: one that was promoted or started again may have lost what was written last, and with it tokens
-- and versions that somebody still holds. Under another replication id both go on far above all that were ever given.
-- ARGV: the schema, the highest reign that the asker knows of, and `create` where a store may be created. Returns the schema (nil where
-- there is no store), the reign, and for a replica its primary.
local info = redis.pcall('INFO', 'replication')
if type(info) ~= 'string' then info = '' end
local id = info:match('master_replid:(%x+)')
if info:find('role:slave') then return { '', '0', info:match('master_host:(%C+)') .. ':' .. info:match('master_port:(%d+)') } end
if args[3] == 'create' then write('HSETNX', P, 'schema', args[1]) end
local schema, known, reign, token, version = unpack(call('HMGET', P, 'schema', 'reignOf', 'reign', 'token', 'version'))
local seen = tonumber(args[2])
reign = tonumber(reign) or 0
if schema == args[1] and id and (known ~= id or reign < seen) then
  local floor = 0
  if known or seen > 0 then
    -- By the clock too: of a reign that was lost whole, nothing here and nobody who comes anew could tell.
    reign = math.max(reign + 1, seen + 1, math.floor(call('TIME')[1] / 10))
    floor = reign * 4194304
  end
  reign = math.max(reign, 1)
  write('HSET', P, 'reignOf', id, 'reign', ('%d'):format(reign),
    'token', ('%d'):format(math.max(tonumber(token) or 0, floor)),
    'version', ('%d'):format(math.max(tonumber(version) or 0, floor)))
end
return { schema, ('%d'):format(reign), '' }
