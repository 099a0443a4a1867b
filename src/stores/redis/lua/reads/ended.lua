-- ended: jobs of a queue and a state by their end; of running jobs, those whose lease has ended, by its end.
-- ARGV: clock, queue, state, the first end, how many. Returns for each: id, end.
-- uses: clock, context, record
clock.readClock()

local _, queue, state, from, limit = unpack(args)
local last = state == 'running' and context.now or '+inf'
local found = call('ZRANGEBYSCORE', P .. state .. ':' .. queue, from, last, 'WITHSCORES', 'LIMIT', 0, limit)
local members, answer = {}, {}
for i = 1, #found, 2 do members[#members + 1] = found[i] end
local ids = record.idsOf(record.seqsOf(members))
for i = 1, #members do
  if ids[i] then answer[#answer + 1] = ids[i] .. '\31' .. found[2 * i] end
end
return table.concat(answer, '\30')
