-- migration-clear: deletes what a migration wrote, some keys at a time. ARGV: clock, the migration, cursor, kinds of records that
-- stay with a space around each. Returns the next cursor, or no if the store is not the target of this migration.
local _, move, cursor, staying = unpack(args)
local known = cjson.decode(call('HGET', P, 'standing') or '{}')
if known.move ~= move or known.role ~= 'target' or known.state ~= 'moving' then return 'no' end
local found = call('SCAN', cursor, 'MATCH', P .. '*', 'COUNT', 1000)
for _, key in ipairs(found[2]) do
  local name = key:sub(#P + 1)
  local kind = name:match('^records:(.*)$') or name:match('^names:(.*)$')
  local stays = name == '' or name == 'workers' or (kind and staying:find(' ' .. kind .. ' ', 1, true))
  if not stays then write('UNLINK', key) end
end
return found[1]
