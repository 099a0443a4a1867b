-- statistics: the stored cells of queues and days.
-- ARGV: clock, letter of the kind, first day, last day or '', the queues; without any, all of them.
-- Returns the queue, the day, letter and name, and the figures of each.
-- uses: clock, context, queue-settings, queues, statistics-reads
clock.readClock()

local _, kind, from, to = unpack(args)
local today, answer = math.floor(context.now / 86400000), {}

local function collect(queue)
  local settings = queueSettings.settingsOf(queue)
  local first = math.max(tonumber(from), today - settings.statsDays + 1)
  for _, cell in ipairs(statisticsReads.cells(queue, kind, first, to == '' and today or to)) do
    local words = statisticsReads.cellText(cell.words, tonumber(cell.day) > today - settings.histogramDays)
    answer[#answer + 1] = table.concat({ queue, cell.day, cell.name, words }, '\31')
  end
end

for _, queue in ipairs(#args > 4 and { select(5, unpack(args)) } or queues.sortedNames()) do collect(queue) end
return table.concat(answer, '\30')
