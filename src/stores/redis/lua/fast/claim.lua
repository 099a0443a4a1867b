-- claim: the fast script of `claim` (lib/fastpath). ARGV and answer as in operations/claim.lua; nothing if it declines.
-- uses: fastpath
local _, claimed = fastpath.run(2, 1, 2)
return claimed
