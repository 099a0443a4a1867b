-- aggregate-statistics: adds the pending entries of the log of statistics to the cells. A call whose answer says that there are
-- too many is followed by this one, unless another client was first.
-- ARGV: clock. Returns nothing.
-- uses: aggregate-log
if tonumber(call('HGET', P .. 'j', '+') or 0) > FASTPATH.MAX_LOG_ENTRIES then aggregateLog() end
return ''
