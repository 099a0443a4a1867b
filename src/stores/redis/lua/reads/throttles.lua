-- throttles: the throttles of which a job holds a slot, and the buckets that let no job start. ARGV: clock, maximum number of
-- holders to name, and of buckets to check.
-- Returns for each: address, maximum or '', how many jobs hold a slot, how many are parked, when the next may start or '', ids of
-- holders.
-- uses: values, clock, context, queues
-- on demand: buckets, throttles
local throttles = require('throttles')
local buckets = require('buckets')

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

local function waitingFor(address)
  local waiting = 0
  for _, queue in ipairs(call('ZRANGE', P .. 'parks:' .. address, 0, -1)) do
    waiting = waiting + call('ZCARD', P .. 'park:' .. queue .. ':' .. address)
  end
  for _, queue in ipairs(queues.queueNames()) do
    waiting = waiting + call('ZCARD', P .. 'park:' .. queue .. ':r:' .. queue .. ':' .. address)
  end
  return waiting
end

local nextStarts = {}
for _, address in ipairs(call('ZRANGEBYSCORE', P .. 'bucket-ends', '(' .. text(context.now), '+inf', 'LIMIT', 0, args[3])) do
  nextStarts[address] = buckets.opensAt(buckets.at(address))
  if nextStarts[address] and not held[address] then
    held[address], holders[address], order[#order + 1] = 0, {}, address
  end
end

local answer = {}
for i, address in ipairs(order) do
  local max = not address:find('^t:.* ') and throttles.maxOf(address)
  local startAt = nextStarts[address] and text(nextStarts[address]) or ''
  local ids = table.concat(holders[address], ' ')
  answer[i] = table.concat({ address, max and text(max) or '', held[address], waitingFor(address), startAt, ids }, '\31')
end
return table.concat(answer, '\30')
