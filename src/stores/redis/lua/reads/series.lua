-- series: the pages of the throughput of queues (core/statistics/series.ts).
-- ARGV: clock, letter of the span, from when on, the queues; without any, all of them.
-- Returns the time, then the queue, the page and its counts of each.
-- uses: clock, context, queues, statistics-reads
clock.readClock()

local _, letter, from = unpack(args)
local minutes, hours = unpack(FASTPATH.SPANS)
local span = letter == minutes.letter and minutes or hours
local length = span.ms * span.cells
local last = math.floor(context.now / length)
local first = math.max(math.floor(from / length), last - span.slots + 1)

local answer = { context.nowText }
for _, queue in ipairs(first > last and {} or #args > 3 and { select(4, unpack(args)) } or queues.sortedNames()) do
  local pages = statisticsReads.pages(queue, span, first, last)
  for i = 1, #pages do answer[#answer + 1] = queue .. '\31' .. pages[i] end
end
return table.concat(answer, '\30')
