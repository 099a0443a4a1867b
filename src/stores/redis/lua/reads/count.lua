-- count: how many jobs of each state. ARGV: clock, queues; without any, all of them.
-- Returns for each queue: its name, draft, waiting, running, done, failed, cancelled, scheduled, relayed, blocked.
-- uses: clock, context, queues
clock.readClock()

local function card(index, queue)
  return call('ZCARD', P .. index .. ':' .. queue)
end

local answer = {}
for _, queue in ipairs(#args > 1 and { select(2, unpack(args)) } or queues.sortedNames()) do
  local plain = call('LLEN', P .. 'fifo:' .. queue) - call('SCARD', P .. 'gone:' .. queue)
  local blocked = card('blocked', queue)
  local scheduled = call('ZCOUNT', P .. 'later:' .. queue, '(' .. context.nowText, '+inf') + #queues.notDue(queue)
  answer[#answer + 1] = table.concat({
    queue, card('draft', queue), plain + card('ready', queue) + card('later', queue) + card('parked', queue) + blocked,
    card('running', queue),
    card('done', queue), card('failed', queue), card('cancelled', queue), scheduled, card('relayed', queue),
    blocked,
  }, '\31')
end
return table.concat(answer, '\30')
