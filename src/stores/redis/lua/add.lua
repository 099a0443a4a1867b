-- add: new jobs. The same id twice is one job; a taken unique key is nobody's failure.
-- ARGV: clock, then for each run of jobs alike: 'plain' or 'special', queue, fields, count, and for each job id and
-- \31:<checksum><data>; where the fields say apart=d, the data follows. A plain job has no priority, time, key, tag.
-- Returns one line for each job that was not simply added: its number, then exists, duplicate or a refusal.
begin()

local seqBefore, nowText = lastSeq, text(now)
local answers = {}

local function answer(at, outcome, id)
  local job = jobs[id]
  answers[#answers + 1] = concat({ at, outcome, STATE[job.place], job.queue, id }, '\31')
end

local function born(id)
  lastSeq = lastSeq + 1
  births.ids[#births.ids + 1] = id
  return format('%.0f', lastSeq)
end

local function fifoOf(queue)
  local fifo = births.fifo[queue]
  if not fifo then
    fifo = {}
    births.fifo[queue] = fifo
    births.queues[#births.queues + 1] = queue
  end
  return fifo
end

-- Plain jobs of one queue: no more is made of them than their records.
local function addPlain(queue, fields, at, count, first)
  local records, fifo, n = births.records, fifoOf(queue), #births.records
  local head, known = ' ' .. nowText .. ' ' .. queue .. fields, { place = 'f', queue = queue }
  for i = 0, count - 1 do
    local id = ARGV[at + 2 * i]
    if jobs[id] then
      answer(first + i, 'exists', id)
    else
      local seq = born(id)
      records[n + 1], records[n + 2] = id, 'f' .. seq .. head .. ARGV[at + 2 * i + 1]
      n = n + 2
      fifo[#fifo + 1] = seq
      jobs[id] = known
      emit('added', queue, 'waiting', id)
    end
  end
end

local function timeOf(job, isDraft)
  local fields = job.fields
  local delayMs = number(fields.delayMs)
  if isDraft then
    setNumber(job, 'delayMs', delayMs)
    return tonumber(fields.runAt) or now
  end
  fields.delayMs = nil
  return tonumber(fields.runAt) or now + delayMs
end

local function addSpecial(id, queue, fields, at)
  local job = { id = id, place = 'w', createdAt = nowText, queue = queue, fields = fields, rows = '', data = ARGV[at] }
  local isDraft = fields.draft ~= nil
  local holder = not isDraft and keyHolderAgainst(job, queue)
  if holder then load({ holder }) end
  if holder and jobs[holder] then return holder end
  job.seq = born(id)
  if fields.apart then bigTexts['d' .. id] = ARGV[at + 1] end
  setNumber(job, 'priority', tonumber(fields.priority or settingsOf(queue).priority))
  setRunAt(job, timeOf(job, isDraft))
  if isDraft then
    job.place = 'p'
  elseif not fields.priority and not fields.runAt and not isBehind then
    job.place = 'f'
    local fifo = fifoOf(queue)
    fifo[#fifo + 1] = job.seq
  end
  jobs[id], job.isTouched = job, true
  touched[#touched + 1] = job
  putTags(job, lastSeq)
  if not isDraft then takeKey(job) end
  emit('added', queue, STATE[job.place], id)
end

local function addRun(at, first)
  local kind, queue, fields, count = ARGV[at], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3])
  local width = find(fields, '\31apart=', 1, true) and 3 or 2
  local settings, seqBeforeRun = settingsOf(queue), lastSeq
  local isPlain = kind == 'plain' and settings.priority == 0 and not isBehind and settings.state ~= 'down'
  if isPlain then addPlain(queue, fields, at + 4, count, first) end
  for i = isPlain and count or 0, count - 1 do
    local itemAt = at + 4 + width * i
    local id = ARGV[itemAt]
    if jobs[id] then
      answer(first + i, 'exists', id)
    elseif settings.state == 'down' then
      answers[#answers + 1] = first + i .. '\31!queue-down'
    else
      local holder = addSpecial(id, queue, fieldsOf(fields), itemAt + 1)
      if holder then answer(first + i, 'duplicate', holder) end
    end
  end
  if lastSeq > seqBeforeRun then register(queue) end
  return at + 4 + width * count, first + count
end

local function loadAll()
  local ids, at = {}, 2
  while ARGV[at] do
    local width = find(ARGV[at + 2], '\31apart=', 1, true) and 3 or 2
    for i = 0, ARGV[at + 3] - 1 do ids[#ids + 1] = ARGV[at + 4 + width * i] end
    at = at + 4 + width * ARGV[at + 3]
  end
  load(ids)
end

loadAll()
local at, first = 2, 0
while ARGV[at] do at, first = addRun(at, first) end
if lastSeq > seqBefore then firstSeq = seqBefore + 1 end
flush()
publish()
return concat(answers, '\30')
