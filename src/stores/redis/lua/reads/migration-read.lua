-- migration-read: reads a store part by part, for a migration to another one.
-- ARGV: clock, part, and what the part needs. Returns:
--   standing    its state in a migration or '', and the last seq, token and version
--   kinds       cursor → the next cursor, and kinds of records
--   records     kind, the key to continue from with = before it or '', limit → key and record of each
--   queues      the name to continue from or '', limit → for each: name, turn served, time of its rate, turns of keys, throughput
--   statistics  queue, the day to continue from or -1, limit of days → for each cell: day, letter and name, figures
--   jobs        the seq to continue from, limit, most bytes → the seq to continue from or '', how many, the edges and key of each,
--               then each as record.show writes it
-- uses: clock, queues, record, aggregates, statistics-reads
-- on demand: unique-keys
local uniqueKeys = require('unique-keys')

local _, part, first, second, third = unpack(args)
local read = {}

function read.standing()
  local standing, seq, token, version = unpack(call('HMGET', P, 'standing', 'seq', 'token', 'version'))
  return { standing or '', seq or '0', token or '0', version or '0' }
end

function read.kinds()
  local found, answer = call('SCAN', first, 'MATCH', P .. 'names:*', 'COUNT', 1000), {}
  answer[1] = found[1]
  for i = 1, #found[2] do answer[i + 1] = found[2][i]:sub(#P + 7) end
  return answer
end

function read.records()
  local from, answer = second == '' and '-' or '(' .. second:sub(2), {}
  local names = call('ZRANGEBYLEX', P .. 'names:' .. first, from, '+', 'LIMIT', 0, third)
  local stored = #names > 0 and call('HMGET', P .. 'records:' .. first, unpack(names)) or {}
  for i = 1, #names do answer[2 * i - 1], answer[2 * i] = names[i], stored[i] or '' end
  return answer
end

-- Returns the throughput of a queue: letter, page and counts of each page.
local function seriesOf(queue)
  local parts = {}
  for _, span in ipairs(FASTPATH.SPANS) do
    for _, page in ipairs(statisticsReads.pages(queue, span, 0, span.slots - 1)) do parts[#parts + 1] = span.letter .. page end
  end
  return table.concat(parts, '\30')
end

function read.queues()
  local answer = {}
  for _, name in ipairs(queues.sortedNames()) do
    if #answer == 5 * tonumber(second) then break end
    if first == '' or queues.isByteBefore(first, name) then
      local turns = call('ZRANGE', P .. 'turns:' .. name, 0, -1, 'WITHSCORES')
      answer[#answer + 1] = name
      answer[#answer + 1] = call('HGET', P .. 'paces', name) or '0'
      answer[#answer + 1] = call('HGET', P .. 'rates', name) or '0'
      answer[#answer + 1] = table.concat(turns, '\31')
      answer[#answer + 1] = seriesOf(name)
    end
  end
  return answer
end

-- The first day after another that has a cell; nil if there is none.
local function nextDay(queue, after)
  local found = call('ZRANGEBYSCORE', P .. 'cells:' .. queue, '(' .. after, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
  local day = tonumber(found) or math.huge
  for _, cell in ipairs(aggregates().log.pending().cells) do
    local own = cell.queue == queue and tonumber(cell.day) or math.huge
    if own > tonumber(after) then day = math.min(day, own) end
  end
  return day < math.huge and ('%d'):format(day) or nil
end

function read.statistics()
  local answer, day = {}, second
  for _ = 1, tonumber(third) do
    day = nextDay(first, day)
    if not day then break end
    for _, cell in ipairs(statisticsReads.cells(first, nil, day, day)) do
      answer[#answer + 1] = cell.day
      answer[#answer + 1] = cell.name
      answer[#answer + 1] = statisticsReads.cellText(cell.words, true)
    end
  end
  return answer
end

-- Returns the edges of a job to its parents, and until when it holds its unique key or ''.
local function ties(job)
  local hex, parts = record.hex(job), {}
  for _, parent in ipairs(job.fields.parents and call('ZRANGE', P .. 'up:' .. hex, 0, -1) or {}) do
    local isOpen = call('ZSCORE', P .. 'wait:' .. parent, hex)
    parts[#parts + 1] = ('%d'):format(tonumber(parent, 16)) .. (isOpen and '+' or '-')
  end
  local unique = uniqueKeys.uniqueOf(job)
  local to, id = (unique and uniqueKeys.entry(uniqueKeys.keyAddress(unique, job.queue)) or ''):match('^(%S+) (.*)$')
  local own = job.fields.steps and call('HGETALL', P .. 'steps:' .. job.id) or {}
  table.insert(own, 1, id == job.id and to or '')
  return table.concat(parts, ' ') .. '\31' .. table.concat(own, '\31')
end

local function seqsFrom(after, limit)
  local piece, count, seqs = math.floor((after + 1) / K.SEQS_PER_PIECE), math.ceil(limit / K.SEQS_PER_PIECE) + 1, {}
  local pieces = call('ZRANGEBYSCORE', P .. 's', piece, '+inf', 'LIMIT', 0, count)
  for _, piece in ipairs(pieces) do
    for _, place in ipairs(call('HKEYS', P .. 's:' .. piece)) do
      local seq = piece * K.SEQS_PER_PIECE + place
      if seq > after then seqs[#seqs + 1] = seq end
    end
  end
  table.sort(seqs)
  return seqs
end

function read.jobs()
  local seqs, limit, most = seqsFrom(tonumber(first), tonumber(second)), tonumber(second), tonumber(third)
  local found, tied, shown, size, last, at = record.bySeqs(seqs), {}, {}, 0, nil, 1
  while seqs[at] and #tied < limit and size < most do
    local job, from = found[at], #shown
    if job then
      tied[#tied + 1] = ties(job)
      size = size + #tied[#tied]
      record.show(shown, job)
      for i = from + 1, #shown do size = size + #shown[i] end
    end
    last, at = seqs[at], at + 1
  end
  local answer = { last and ('%d'):format(last) or '', #tied }
  for i = 1, #tied do answer[#answer + 1] = tied[i] end
  for i = 1, #shown do answer[#answer + 1] = shown[i] end
  answer[2] = ('%d'):format(answer[2])
  return answer
end

clock.readClock()
return read[part]()
