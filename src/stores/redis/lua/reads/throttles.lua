-- throttles: the throttles of which a job holds a slot. ARGV: clock, maximum number of holders to name.
-- Returns for each: address, maximum or '', how many jobs hold a slot, how many are parked, ids of holders.
-- uses: values, clock, queues
-- on demand: throttles
local throttles = require('throttles')

clock.readClock()

local most, held, holders, order = tonumber(args[2]), {}, {}, {}
local running = queues.runningJobs()
table.sort(running, function(a, b) return tonumber(a.seq) < tonumber(b.seq) end)
for _, job in ipairs(running) do
  for address in (job.fields.slots and job.fields.slots .. '\30' or ''):gmatch('([^\30]*)\30') do
    if not held[address] then
      held[address], holders[address], order[#order + 1] = 0, {}, address
    end
    held[address] = held[address] + 1
    if held[address] <= most then holders[address][held[address]] = job.id end
  end
end

local answer = {}
for i, address in ipairs(order) do
  local waiting = 0
  for _, queue in ipairs(call('ZRANGE', P .. 'parks:' .. address, 0, -1)) do
    waiting = waiting + call('ZCARD', P .. 'park:' .. queue .. ':' .. address)
  end
  local max = throttles.maxOf(address)
  local ids = table.concat(holders[address], ' ')
  answer[i] = table.concat({ address, max and text(max) or '', held[address], waiting, ids }, '\31')
end
return table.concat(answer, '\30')
