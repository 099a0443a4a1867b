-- failures: the groups of failed jobs. ARGV: clock, a queue; without one, all of them.
-- Returns for each group: queue, group, count, first and last end, id of the last member; and then the cells of
-- its statistics by day, as statistics.lua returns them.
-- uses: clock, context, queue-settings, queues, record, statistics-reads
clock.readClock()
local answer, cells, today = {}, {}, math.floor(context.now / 86400000)
for _, queue in ipairs(#args > 1 and { args[2] } or queues.sortedNames()) do
  for _, name in ipairs(call('ZRANGE', P .. 'groups:' .. queue, 0, -1)) do
    local key = P .. 'group:' .. queue .. ':' .. name
    local first, last = call('ZRANGE', key, 0, 0, 'WITHSCORES'), call('ZRANGE', key, -1, -1, 'WITHSCORES')
    local id = #first > 0 and record.idsOf(record.seqsOf({ last[1] }))[1]
    if id then
      answer[#answer + 1] = table.concat({ queue, name, call('ZCARD', key), first[2], last[2], id }, '\31')
    end
  end
  local kept = today - queueSettings.settingsOf(queue).statsDays + 1
  for _, cell in ipairs(statisticsReads.cells(queue, 'g', kept, today)) do
    cells[#cells + 1] = table.concat({ queue, cell.day, cell.name, statisticsReads.cellText(cell.words) }, '\31')
  end
end
return { table.concat(answer, '\30'), table.concat(cells, '\30') }
