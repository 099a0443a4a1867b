-- settle: the fast script of `settle` (lib/fastpath). ARGV and answer as in operations/settle.lua; nothing if it declines.
-- uses: fastpath
return (fastpath.run(2, #args))
