-- repair: repairs what a call left that was cut short. Other operations ask for it before they write anything.
-- ARGV: clock. Returns nothing.
-- uses: clock, context
-- on demand: repair
clock.readClock()
if context.unfinished and context.unfinished ~= '' then require('repair').repair() end
return ''
