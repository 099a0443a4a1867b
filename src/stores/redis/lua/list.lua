-- list: jobs that fit a query, the newest first. Looks at a bounded number of them.
-- ARGV: clock, \31 queue, state, label, tag, name, worker, group, since, before, after as far as said, with limit.
-- Returns the seq to go on from or '', and for each job what `show` says of it.
look()

local MAX_LOOKED, PAGE, SMALL = 5000, 100, 2000
local want = fieldsOf(ARGV[2])
local limit, below = tonumber(want.limit), tonumber(want.after) or 9007199254740991

-- ── the label of a job: core/label.ts ──

local function labelOf(job)
  local place, fields, settings = job.place, job.fields, settingsOf(job.queue)
  if place == 'r' then
    local lease = leaseOf(job)
    if lease.cancelAskedAt ~= '-' then return 'cancelling' end
    if lease.to <= now then return settings.onLost == 'hold' and 'held' or 'stalled' end
    return lease.startedAt == '-' and 'starting' or 'running'
  end
  if place == 'd' then return fields.forwardedTo and 'relayed' or 'done' end
  if place ~= 'f' and place ~= 'w' then return STATE[place] end
  if runAtOf(job) > now then return number(fields.failures) == 0 and 'scheduled' or 'retrying' end
  return settings.state ~= 'up' and 'paused' or 'ready'
end

local function hasTag(job, tag)
  return job.fields.tags ~= nil and find('\30' .. job.fields.tags .. '\30', '\30' .. tag .. '\30', 1, true) ~= nil
end

local function isWanted(job)
  local fields, createdAt = job.fields, tonumber(job.createdAt)
  return (not want.queue or job.queue == want.queue)
    and (not want.state or STATE[job.place] == want.state)
    and (not want.tag or hasTag(job, want.tag))
    and (not want.name or fields.name == want.name)
    and (not want.worker or (job.place == 'r' and leaseOf(job).worker == want.worker))
    and (not want.group or (job.place == 'x' and fields.group == want.group))
    and (not want.since or createdAt >= tonumber(want.since))
    and (not want.before or createdAt < tonumber(want.before))
    and (not want.label or labelOf(job) == want.label)
end

-- ── where to look: each source answers seqs below a seq, the newest first, nothing when there are no more ──

local function newestFirst(seqs)
  table.sort(seqs, function(a, b) return a > b end)
  return seqs
end

local function isSmall(keys)
  local count = 0
  for _, key in ipairs(keys) do
    count = count + call(match(key, '^fifo:') and 'LLEN' or 'ZCARD', P .. key)
    if count > SMALL then return false end
  end
  return true
end

local function keysOf(queue, state)
  if want.group then return { 'group:' .. queue .. ':' .. want.group } end
  if want.worker then return { 'running:' .. queue } end
  if state == 'waiting' then return { 'fifo:' .. queue, 'ready:' .. queue, 'later:' .. queue } end
  return { state .. ':' .. queue }
end

-- The indexes that hold every job that could fit.
local function narrowKeys()
  local keys, states = {}, { 'waiting', 'draft', 'running', 'done', 'failed', 'cancelled' }
  if want.state then states = { want.state } elseif want.group or want.worker then states = { 'running' } end
  for _, queue in ipairs(want.queue and { want.queue } or call('ZRANGE', P .. 'queues', 0, -1)) do
    for _, state in ipairs(states) do
      for _, key in ipairs(keysOf(queue, state)) do keys[#keys + 1] = key end
    end
  end
  return keys
end

-- Few enough to sort them all.
local function fromKeys(keys)
  local seqs, known = {}, {}
  for _, key in ipairs(keys) do
    local members = call(match(key, '^fifo:') and 'LRANGE' or 'ZRANGE', P .. key, 0, -1)
    for _, seq in ipairs(seqsOf(members)) do
      if seq < below and not known[seq] then
        known[seq] = true
        seqs[#seqs + 1] = seq
      end
    end
  end
  newestFirst(seqs)
  local at = 0
  return function()
    local page = { unpack(seqs, at + 1, min(at + PAGE, #seqs)) }
    at = at + #page
    return page
  end
end

local function fromTag()
  local seq = below
  return function()
    local members = call('ZREVRANGEBYSCORE', P .. 'tag:' .. want.tag, '(' .. text(seq), '-inf', 'LIMIT', 0, PAGE)
    local page = seqsOf(members)
    seq = page[#page] or seq
    return page
  end
end

-- Everything there is, piece by piece.
local function fromPieces()
  local piece = floor((below - 1) / PIECE)
  return function()
    local page = {}
    while #page == 0 do
      local there = call('ZREVRANGEBYSCORE', P .. 's', text(piece), '-inf', 'LIMIT', 0, 1)[1]
      if not there then return page end
      for _, field in ipairs(call('HKEYS', P .. 's:' .. there)) do
        local seq = there * PIECE + field
        if seq < below then page[#page + 1] = seq end
      end
      piece = there - 1
    end
    return newestFirst(page)
  end
end

local function source()
  if want.tag then return fromTag() end
  local keys = narrowKeys()
  return isSmall(keys) and fromKeys(keys) or fromPieces()
end

local function search()
  local answer, count, looked, nextPage = { '' }, 0, 0, source()
  while true do
    local seqs = nextPage()
    if #seqs == 0 then return answer end
    for i, job in ipairs(jobsOf(seqs)) do
      if job and isWanted(job) then
        show(answer, job)
        count = count + 1
      end
      looked = looked + 1
      if count == limit or looked >= MAX_LOOKED then
        answer[1] = text(seqs[i])
        return answer
      end
    end
  end
end

return search()
