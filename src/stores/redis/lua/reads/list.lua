-- list: jobs that match a query, the newest first. Scans a bounded number of them.
-- ARGV: clock, \31 limit, and optional queue, state, label, tag, name, worker, parent, child, group, since, before, after.
-- Returns the seq to continue from or '', and each job as record.show writes it.
-- uses: values, clock, context, queue-settings, queues, record
-- on demand: buckets, rates, resources, throttles
local throttles = require('throttles')
local resources = require('resources')
local rates = require('rates')
local buckets = require('buckets')

clock.readClock()

local MAX_SCANNED, PAGE, SMALL = 5000, 100, 2000
local want = record.fieldsOf(args[2])
local limit, below = tonumber(want.limit), tonumber(want.after) or 9007199254740991

-- Returns the label of a job (core/job/label.ts).
local function labelOf(job)
  local place, fields, settings = job.place, job.fields, queueSettings.settingsOf(job.queue)
  if place == 'r' then
    if fields.cancelAskedAt then return 'cancelling' end
    if record.leaseOf(job).to <= context.now then return settings.onLost == 'hold' and 'held' or 'stalled' end
    return fields.startedAt and 'running' or 'starting'
  end
  if place == 'd' then return fields.forwardedTo and 'relayed' or 'done' end
  if place == 'b' then return 'blocked' end
  if STATE[place] ~= 'waiting' then return STATE[place] end
  if record.runAtOf(job) > context.now and fields.suspended then return 'suspended' end
  if record.runAtOf(job) > context.now then return number(fields.failures) == 0 and 'scheduled' or 'retrying' end
  if settings.state ~= 'up' then return 'paused' end
  local addresses = throttles.throttlesOf(job, settings)
  local isHeldBack = rates.roomIn(job.queue, settings) <= 0 or throttles.fullAmong(addresses)
    or select(2, buckets.closedAmong(job, addresses)) or resources.exceedsAllWorkers(job, settings)
  return isHeldBack and 'throttled' or 'ready'
end

local function hasTag(job, tag)
  return job.fields.tags ~= nil and ('\30' .. job.fields.tags .. '\30'):find('\30' .. tag .. '\30', 1, true) ~= nil
end

-- Returns the seq of a job as it is in the keys of its edges.
local function hexOf(id)
  record.load({ id })
  return context.jobs[id] and record.hex(context.jobs[id]) or ''
end

local function isRelated(index, id, job)
  return call('ZSCORE', P .. index .. hexOf(id), record.hex(job)) ~= false
end

local function isWanted(job)
  local fields, createdAt = job.fields, tonumber(job.createdAt)
  return (not want.queue or job.queue == want.queue)
    and (not want.state or STATE[job.place] == want.state)
    and (not want.tag or hasTag(job, want.tag))
    and (not want.name or fields.name == want.name)
    and (not want.parent or isRelated('kids:', want.parent, job))
    and (not want.child or isRelated('up:', want.child, job))
    and (not want.worker or (job.place == 'r' and record.leaseOf(job).worker == want.worker))
    and (not want.group or (job.place == 'x' and fields.group == want.group))
    and (not want.since or createdAt >= tonumber(want.since))
    and (not want.before or createdAt < tonumber(want.before))
    and (not want.label or labelOf(job) == want.label)
end

-- Sources: each returns a function that returns pages of seqs below a seq, the newest first, and an empty page at the end.

local function newestFirst(seqs)
  table.sort(seqs, function(a, b) return a > b end)
  return seqs
end

local function isSmall(names)
  local count = 0
  for _, key in ipairs(names) do
    count = count + call(key:match('^fifo:') and 'LLEN' or 'ZCARD', P .. key)
    if count > SMALL then return false end
  end
  return true
end

local function namesOf(queue, state)
  if want.group then return { 'group:' .. queue .. ':' .. want.group } end
  if want.worker then return { 'running:' .. queue } end
  if state == 'waiting' then
    return { 'fifo:' .. queue, 'ready:' .. queue, 'later:' .. queue, 'blocked:' .. queue, 'parked:' .. queue }
  end
  return { state .. ':' .. queue }
end

-- Returns the indexes that hold every job that could match.
local function narrowNames()
  local names, states = {}, { 'waiting', 'draft', 'running', 'done', 'failed', 'cancelled' }
  if want.state then states = { want.state } elseif want.group or want.worker then states = { 'running' } end
  for _, queue in ipairs(want.queue and { want.queue } or queues.queueNames()) do
    for _, state in ipairs(states) do
      for _, name in ipairs(namesOf(queue, state)) do names[#names + 1] = name end
    end
  end
  return names
end

-- Sorts all members of small indexes.
local function fromNames(names)
  local seqs, known = {}, {}
  for _, key in ipairs(names) do
    local members = call(key:match('^fifo:') and 'LRANGE' or 'ZRANGE', P .. key, 0, -1)
    for _, seq in ipairs(record.seqsOf(members)) do
      if seq < below and not known[seq] then
        known[seq] = true
        seqs[#seqs + 1] = seq
      end
    end
  end
  newestFirst(seqs)
  local at = 0
  return function()
    local page = { unpack(seqs, at + 1, math.min(at + PAGE, #seqs)) }
    at = at + #page
    return page
  end
end

-- Reads an index whose scores are seqs.
local function fromIndex(key)
  local seq = below
  return function()
    local members = call('ZREVRANGEBYSCORE', P .. key, '(' .. text(seq), '-inf', 'LIMIT', 0, PAGE)
    local page = record.seqsOf(members)
    seq = page[#page] or seq
    return page
  end
end

-- Reads the index by insertion, piece by piece.
local function fromPieces()
  local piece = math.floor((below - 1) / K.SEQS_PER_PIECE)
  return function()
    local page = {}
    while #page == 0 do
      local there = call('ZREVRANGEBYSCORE', P .. 's', text(piece), '-inf', 'LIMIT', 0, 1)[1]
      if not there then return page end
      for _, field in ipairs(call('HKEYS', P .. 's:' .. there)) do
        local seq = there * K.SEQS_PER_PIECE + field
        if seq < below then page[#page + 1] = seq end
      end
      piece = there - 1
    end
    return newestFirst(page)
  end
end

local function source()
  if want.parent then return fromIndex('kids:' .. hexOf(want.parent)) end
  if want.child then return fromIndex('up:' .. hexOf(want.child)) end
  if want.tag then return fromIndex('tag:' .. want.tag) end
  local names = narrowNames()
  return isSmall(names) and fromNames(names) or fromPieces()
end

local function search()
  local answer, count, scanned, nextPage = { '' }, 0, 0, source()
  while true do
    local seqs = nextPage()
    if #seqs == 0 then return answer end
    for i, job in ipairs(record.bySeqs(seqs)) do
      if job and isWanted(job) then
        record.show(answer, job)
        count = count + 1
      end
      scanned = scanned + 1
      if count == limit or scanned >= MAX_SCANNED then
        answer[1] = text(seqs[i])
        return answer
      end
    end
  end
end

return search()
