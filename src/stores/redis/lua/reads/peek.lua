-- peek: the waiting jobs of a queue in claim order.
-- ARGV: clock, queue, offset, limit. Returns each job as record.show writes it.
-- uses: values, clock, context, queue-settings, record
clock.readClock()

local queue, offset, limit = args[2], tonumber(args[3]), tonumber(args[4])
local MAX_SORTED = 5000 -- due jobs that no claim has moved to the ready index

-- Compares jobs: returned ones first, the longest returned before others; then priority, turn, time, insertion.
local function claimOrder(a, b)
  local returnedA, returnedB = tonumber(a.fields.returnedAt), tonumber(b.fields.returnedAt)
  local first, second = returnedA or math.huge, returnedB or math.huge
  if first ~= second then return first < second end
  if not returnedA then
    first, second = number(a.fields.priority), number(b.fields.priority)
    if first ~= second then return first < second end
    first, second = number(a.fields.turn), number(b.fields.turn)
    if first ~= second then return first < second end
    first, second = record.runAtOf(a), record.runAtOf(b)
    if first ~= second then return first < second end
  end
  return tonumber(a.seq) < tonumber(b.seq)
end

-- Adds the due jobs of members. A member counts only if the record agrees.
local function collect(found, place, members)
  for _, job in ipairs(record.bySeqs(record.seqsOf(members))) do
    if job and job.queue == queue and job.place == place and record.runAtOf(job) <= context.now then found[#found + 1] = job end
  end
end

local function page()
  local found = {}
  collect(found, 'w', call('ZRANGE', P .. 'ready:' .. queue, 0, context.isBehind and -1 or offset + limit - 1))
  collect(found, 'k', call('ZRANGE', P .. 'parked:' .. queue, 0, context.isBehind and -1 or offset + limit - 1))
  collect(found, 'w', call('ZRANGEBYSCORE', P .. 'later:' .. queue, '-inf', context.nowText, 'LIMIT', 0, MAX_SORTED))
  local gone = math.min(MAX_SORTED, call('SCARD', P .. 'gone:' .. queue))
  collect(found, 'f', call('LRANGE', P .. 'fifo:' .. queue, 0, offset + limit + gone - 1))
  table.sort(found, claimOrder)
  return { unpack(found, offset + 1, offset + limit) }
end

-- Returns the page if the queue has plain jobs only and none left from the middle; nil otherwise.
local function plainPage()
  if context.isBehind or call('EXISTS', P .. 'ready:' .. queue, P .. 'gone:' .. queue, P .. 'parked:' .. queue) > 0 then return nil end
  local soonest = call('ZRANGE', P .. 'later:' .. queue, 0, 0, 'WITHSCORES')[2]
  if soonest and tonumber(soonest) <= context.now then return nil end
  local found = {}
  collect(found, 'f', call('LRANGE', P .. 'fifo:' .. queue, offset, offset + limit - 1))
  return found
end

local answer = {}
if queueSettings.settingsOf(queue).state ~= 'up' or limit < 1 then return answer end
for _, job in ipairs(plainPage() or page()) do record.show(answer, job) end
return answer
