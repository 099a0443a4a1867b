-- statistics: the cells of some queues and days, as far as they are kept.
-- ARGV: clock, letter of the kind, first day, last day or '', the queues; without any, all of them.
-- Returns the queue, the day, letter and name, and the figures of each.
-- uses: clock, context, queue-settings, queues, statistics-reads
clock.readClock()

local _, kind, from, to = unpack(args)
local today, answer = math.floor(context.now / 86400000), {}

local function collect(queue)
  local settings = queueSettings.settingsOf(queue)
  local first = math.max(tonumber(from), today - settings.statsDays + 1)
  local members = call('ZRANGEBYSCORE', P .. 'cells:' .. queue, first, to == '' and today or to)
  for _, member in ipairs(members) do
    local day, name = member:match('^(%d+)\31(.*)$')
    local figures = name:sub(1, 1) == kind and call('HGET', P .. 'j', '#' .. queue .. '\31' .. member)
    if figures then
      figures = statisticsReads.figures(figures, tonumber(day) > today - settings.histogramDays)
      answer[#answer + 1] = table.concat({ queue, day, name, figures }, '\31')
    end
  end
end

for _, queue in ipairs(#args > 4 and { select(5, unpack(args)) } or queues.sortedNames()) do collect(queue) end
return table.concat(answer, '\30')
