-- add: adds jobs. An id that exists is not added again; a job whose unique key is taken is a duplicate.
-- ARGV: clock, then for each run of equal jobs: 'plain' or 'special', queue, fields, count, and for each job id and
-- \31:<checksum><data>; with apart=d in the fields, the data follows. A plain job has no priority, run time, key or tag, no
-- parents, and no dependents in the same call.
-- Returns a line for each job with another outcome than added and waiting: its number, then exists, duplicate, replaced or a
-- refusal; or added, if it failed at once because of a parent.
-- uses: values, context, events, indexes, lifecycle, operation, queue-settings, record, record-changes, unit-of-work
-- on demand: dependencies, find-parents, key-changes, parking, turns, unique-keys, webhook-order
operation.begin()

local jobs, answers, isMarked = context.jobs, {}, {}
local newJobs = { first = context.seq + 1, ids = {}, records = {}, fifo = {}, queues = {} }

context.newJobs = newJobs

local function answer(at, outcome, id)
  local job = jobs[id]
  answers[#answers + 1] = table.concat({ at, outcome, STATE[job.place], job.queue, id }, '\31')
end

local function fifoOf(queue)
  local fifo = newJobs.fifo[queue]
  if not fifo then
    fifo = {}
    newJobs.fifo[queue] = fifo
    newJobs.queues[#newJobs.queues + 1] = queue
  end
  return fifo
end

-- Ends the wait of a claim for jobs of a queue (calls/waiting-claims.ts).
local function mark(queue)
  if isMarked[queue] then return end
  isMarked[queue] = true
  unitOfWork.put('marker:' .. queue, '0', '0')
end

-- Adds plain jobs of one queue, as records only. Lengths are counted, since `#` searches for the end of a list each time.
local function addPlain(queue, fields, at, count, first)
  local ids, records, fifo, seq = newJobs.ids, newJobs.records, fifoOf(queue), context.seq
  local head, known = ' ' .. context.nowText .. ' ' .. queue .. fields, { place = 'f', queue = queue }
  local added, nIds, nRecords, nFifo, nAdded = nil, #ids, #records, #fifo, 0
  for i = 0, count - 1 do
    local id = args[at + 2 * i]
    if jobs[id] then
      answer(first + i, 'exists', id)
    else
      seq = seq + 1
      local seqText = ('%d'):format(seq)
      records[nRecords + 1], records[nRecords + 2] = id, 'f' .. seqText .. head .. args[at + 2 * i + 1]
      nIds, nFifo, nRecords, nAdded = nIds + 1, nFifo + 1, nRecords + 2, nAdded + 1
      ids[nIds], fifo[nFifo], jobs[id] = id, seqText, known
      if added then
        added[nAdded] = id
      else
        added = events.emit('added', queue, 'waiting', id)
        nAdded = #added
      end
    end
  end
  context.seq = seq
  if added then mark(queue) end
end

local function timeOf(job)
  local fields = job.fields
  local delayMs = number(fields.delayMs)
  if fields.draft then
    recordChanges.setNumber(job, 'delayMs', delayMs)
    return tonumber(fields.runAt) or context.now
  end
  fields.delayMs = not fields.runAt and delayMs > 0 and text(delayMs) or nil
  return tonumber(fields.runAt) or context.now + delayMs
end

local function placeOf(job)
  local fields = job.fields
  if fields.draft then return 'p' end
  lifecycle.wait(job)
  if job.place == 'b' then return 'b' end
  if fields.priority or fields.runAt or fields.turn or context.isBehind then return 'w' end
  table.insert(fifoOf(job.queue), job.seq)
  return 'f'
end

-- Replaces the waiting job that holds the unique key of a later one. Returns whether it did.
local function replace(job, later, at)
  local kind, mostMs = (later.onTaken or ''):match('^(%a+) (.*)$')
  if not kind or STATE[job.place] ~= 'waiting' or job.fields.suspended then return false end
  local isNew, runAt = job.isTouched, record.runAtOf(job)
  unitOfWork.touch(job)
  require('parking').unparkBehind(job)
  if job.place == 'k' then job.place = 'w' end
  if job.fields.into then
    job.fields.into = nil
    lifecycle.wait(job)
  end
  recordChanges.setText(job, 'd', args[at]:sub(3), later.apart and args[at + 1])
  if kind == 'debounce' then
    local latest = mostMs == '-' and math.huge or job.createdAt + mostMs
    local given = tonumber(later.runAt)
    local time = math.min(given or context.now + number(later.delayMs), latest)
    lifecycle.withRunAt(job, time)
    job.fields.delayMs = time ~= given and text(math.max(0, time - context.now)) or nil
  end
  if job.place == 'f' and record.runAtOf(job) ~= runAt then
    job.place = 'w'
    -- A job that this call has put into the fifo leaves it like any other.
    if isNew then job.oldFifo = job.oldFifo or job.queue end
  end
  lifecycle.apply(job, 'changed', {})
  return true
end

-- Returns the holder of the unique key, if there is one, and the outcome; or nil and a refusal.
local function addSpecial(id, queue, fields, at)
  local job = { id = id, createdAt = context.nowText, queue = queue, fields = fields, rows = '', data = args[at] }
  local isFollowing = (fields.onTaken or ''):find('^follow') ~= nil
  local holder = not fields.draft and not isFollowing and require('unique-keys').keyHolderAgainst(job, queue)
  if holder then record.load({ holder }) end
  if holder and jobs[holder] then
    return holder, replace(jobs[holder], fields, at) and 'replaced' or 'duplicate'
  end
  local ids, parents, refusal = fields.dependsOn, nil, nil
  if ids then parents, refusal = require('find-parents').findParents(id, ids) end
  if refusal then return nil, refusal end
  local before = isFollowing and require('webhook-order').openHolder(require('unique-keys').addressOf(job))
  if before then parents = { before } end
  fields.dependsOn, fields.onTaken = nil, nil
  context.seq = context.seq + 1
  newJobs.ids[#newJobs.ids + 1], job.seq = id, text(context.seq)
  if fields.apart then
    unitOfWork.pending('longTexts')['d' .. id] = args[at + 1]
  end
  recordChanges.setNumber(job, 'priority', tonumber(fields.priority or queueSettings.settingsOf(queue).priority))
  recordChanges.setRunAt(job, timeOf(job))
  if parents then require('dependencies').withParents(job, parents, true) end
  if not fields.draft and orNil(queueSettings.settingsOf(queue).keys) then require('turns').withTurn(job) end
  job.place = placeOf(job)
  if job.place == 'f' or (job.place == 'w' and record.runAtOf(job) <= context.now) then mark(queue) end
  jobs[id], job.isTouched, job.isChanged = job, true, true
  context.touched[#context.touched + 1] = job
  if isFollowing then
    require('webhook-order').handKeyTo(require('unique-keys').addressOf(job), id)
  elseif not fields.draft then
    require('key-changes').takeKey(job)
  end
  events.emit('added', queue, STATE[job.place], id)
  if parents then require('dependencies').waitFor(job, parents) end
end

local function addRun(at, first)
  local kind, queue, fields, count = args[at], args[at + 1], args[at + 2], tonumber(args[at + 3])
  local width, settings, seqBefore = fields:find('\31apart=', 1, true) and 3 or 2, queueSettings.settingsOf(queue), context.seq
  local isPlain = kind == 'plain' and settings.priority == 0 and not context.isBehind and not queueSettings.isClosed(settings)
    and not context.closed and not orNil(settings.keys) and not orNil(settings.coalesce)
  if isPlain then addPlain(queue, fields, at + 4, count, first) end
  for i = isPlain and count or 0, count - 1 do
    local itemAt = at + 4 + width * i
    local id = args[itemAt]
    if jobs[id] then
      answer(first + i, 'exists', id)
    elseif context.closed then
      answers[#answers + 1] = first + i .. '\31!store-moving ' .. context.closed
    elseif queueSettings.isClosed(settings) then
      answers[#answers + 1] = first + i .. '\31!queue-' .. settings.state
    else
      local holder, outcome = addSpecial(id, queue, record.fieldsOf(fields), itemAt + 1)
      if holder then
        answer(first + i, outcome, holder)
      elseif outcome then
        answers[#answers + 1] = first + i .. '\31' .. outcome
      elseif jobs[id].place == 'x' then
        answer(first + i, 'added', id)
      end
    end
  end
  if context.seq > seqBefore then indexes.registerQueue(queue) end
  return at + 4 + width * count, first + count
end

local function loadAll()
  local ids, at = {}, 2
  while args[at] do
    local width, count = args[at + 2]:find('\31apart=', 1, true) and 3 or 2, tonumber(args[at + 3])
    for i = 0, count - 1 do ids[#ids + 1] = args[at + 4 + width * i] end
    at = at + 4 + width * count
  end
  record.load(ids)
end

loadAll()
local at, first = 2, 0
while args[at] do at, first = addRun(at, first) end
if context.seq < newJobs.first then context.newJobs = nil end
unitOfWork.flush()
events.publish()
return table.concat(answers, '\30')
