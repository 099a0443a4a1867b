-- storage: the bytes of the ended jobs of queues (core/statistics/storage.ts). ARGV: clock, the queues; without any, all of them.
-- Returns for each: queue, how many are done, failed and cancelled, then the five sums, and the number and bytes of its logs.
-- uses: values, clock, queues, aggregates
clock.readClock()

local answer = {}
for _, queue in ipairs(#args > 1 and { select(2, unpack(args)) } or queues.sortedNames()) do
  local sums, line = aggregates().storage(queue), { queue }
  for i, state in ipairs({ 'done', 'failed', 'cancelled' }) do line[i + 1] = call('ZCARD', P .. state .. ':' .. queue) end
  for i = 1, 5 do line[i + 4] = text(sums[i]) end
  line[10], line[11] = call('ZCARD', P .. 'logged:' .. queue), call('HGET', P .. 'log-bytes', queue) or 0
  answer[#answer + 1] = table.concat(line, '\31')
end
return table.concat(answer, '\30')
