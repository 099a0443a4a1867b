-- settle-claim: the fast script of `settle-claim` (lib/fastpath). ARGV and answer as in operation.inSequence; nothing if it
-- declines.
-- uses: fastpath
local count = tonumber(args[2])
local settled, claimed = fastpath.run(3, 2 + count, 3 + count)
if claimed then table.insert(claimed, 1, settled) end
return claimed
