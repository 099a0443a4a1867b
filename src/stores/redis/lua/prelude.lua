-- prelude: put before every operation. The record of a job, the clock, and the unit of work that an operation is.
--
-- KEYS[1] is {namespace}; every other key begins with it, so that a namespace is one slot of a cluster:
--   {ns}            hash   schema, seen, gapFrom, gapTo, high, seq, token, version, hooks, and `open` (see work.flush);
--                          `step`: a step back of the clock after which not all jobs were looked at yet (see steps);
--                          `standing` and `closed`: where the store stands in a move, and why it takes no changes (core/ports/migration.ts)
--   j               hash   id → record; @worker → that worker's last claim; +… → the log of statistics (lib/statistics.lua);
--                          #… → cells of statistics, %… → throughput, $queue → its storage sums (lib/aggregates.lua)
--   big             hash   texts too long for a record, by letter and id
--   s:<n>, s        hash   seq → id in pieces of 64, and the zset of those pieces: every job by insertion
--   queues          zset   every queue that has or had a job, by first appearance
--   fifo:<queue>    list   seqs of plain jobs, in the order they are claimed; gone:<queue>: those that left otherwise
--   ready:, later:  zset   the other waiting jobs: by priority (returned work at -inf), and by time
--   blocked:<queue> zset   those that wait for other jobs; wait:, kids:<seq> the open and all edges from a parent, up:<seq> to a child
--   parked:<queue>  zset   those that wait for a slot of a throttle, as in ready; park:<queue>:<address> those of one
--   parks:<address> zset   the queues that have such; slots:<address>: the running jobs that hold one
--   equals:<queue>:<key> zset   those in line that are equal (core/limits/coalesce.ts), by time; folds:<id> those folded into a job
--   needs:<queue>   zset   the addresses by needs (core/limits/resources.ts) under which jobs of it are parked
--   turns:<queue>   zset   key → the last turn it was given; paces, rates: queue → turn served, and core/limits/rate.ts's memory
--   draft:, running:, done:, failed:, cancelled:, relayed:, group:<queue>:<group>, groups:, tag:<tag>, tags   zset
--   cells:, buckets:<queue>   zset   what statistics there are, by day; the cells themselves are in j (lib/aggregates.lua)
--   results         hash   queue → no done job that ended before has a result
--   keys, periods   hash   unique key → until and holder; zset of those that end by time
--   workers, records:<kind>, names:<kind>, expiring   zset of records, and of what workers were given, to look at by time
--
-- A record is text: <place><seq> <createdAt> <queue> { \31 name=value } { \31+row } \31:<checksum><data>. Only what is
-- not the default stands in it, and nobody here looks into data, result, checkpoint, detail or policy.
--
-- Invariant: a record is the truth, every index can be made again from it. Invariant: an operation reads and
-- decides first; then work.flush writes, and whatever stops it half-way is mended by the next operation (mend).
--
-- This text runs anew in every call, so it is laid out for that: functions stand in a few tables, because making one
-- takes as many steps as there are locals which some function has captured; tables are written whole, because growing
-- them one by one costs as much again; and what few operations need is made when somebody first asks for it (later).

local STATE = { f = 'waiting', w = 'waiting', b = 'waiting', k = 'waiting', p = 'draft', r = 'running', d = 'done', x = 'failed', c = 'cancelled' }
local clock, queues, census, record, work, rare, keys, edges, life, loss, throttles, folds, outbox, steps

-- A number as text. Whole ones go by %d, which is several times faster than %.17g and says the same.
local function text(n)
  if n % 1 == 0 and n < 1e15 and n > -1e15 then return ('%d'):format(n) end
  return ('%.17g'):format(n)
end

local function number(value)
  return tonumber(value) or 0
end

local function later(make)
  return setmetatable({}, {
    __index = function(part, name)
      setmetatable(part, nil)
      make(part)
      return part[name]
    end,
  })
end

-- ── the clock: core/lifecycle/clock.ts ────────────────────────────────────────────────────────────────────────────────────────

clock = {
  hasBegun = false, now = 0, nowText = '', mode = '', gapFrom = 0, gapTo = 0, isBehind = false, open = '', closed = nil, hooked = false,
  seq = 0, token = 0, -- the last that were given
  stepFrom = nil, stepAfter = 0, oldStep = '', isLowered = false, -- see steps
  seen = 0, high = 0, oldGapFrom = 0, oldGapTo = 0, oldHigh = 0, oldSeq = 0, oldToken = 0, -- as they are stored

  read = function()
    local mode, given = args[1]:match('^(%a*) ?(.*)$')
    clock.mode = mode
    if mode ~= 'store' and given ~= '' then return tonumber(given) end
    local time = call('TIME')
    return time[1] * 1000 + math.floor(time[2] / 1000)
  end,

  -- What a look needs: the time, and whether it lies before one that placed jobs among the ready ones.
  look = function()
    local seen, gapFrom, gapTo, high, seq, token, open, closed, hooked, step =
      unpack(call('HMGET', P, 'seen', 'gapFrom', 'gapTo', 'high', 'seq', 'token', 'open', 'closed', 'hooks', 'step'))
    clock.closed = closed and closed ~= '' and closed or nil
    local reading = clock.read()
    seen, gapFrom, gapTo, high = number(seen), number(gapFrom), number(gapTo), number(high)
    clock.seen, clock.oldGapFrom, clock.oldGapTo, clock.oldHigh = seen, gapFrom, gapTo, high
    clock.seq, clock.token, clock.open, clock.hooked = number(seq), number(token), open, hooked and hooked ~= '' and hooked
    clock.oldSeq, clock.oldToken = clock.seq, clock.token
    if step and step ~= '' then
      local from, after = step:match('^(%S+) (%S+)$')
      clock.oldStep, clock.stepFrom, clock.stepAfter = step, tonumber(from), tonumber(after)
    end
    clock.now, clock.high, clock.gapFrom, clock.gapTo = reading, math.max(high, seen), 0, 0
    if clock.mode ~= 'caller' and seen - reading <= K.CLAMP_MS then
      clock.now, clock.gapFrom, clock.gapTo = math.max(reading, seen), gapFrom, gapTo
      if seen > 0 and clock.now - seen > K.GAP_MS then clock.gapFrom, clock.gapTo = seen, clock.now end
    end
    clock.isBehind = clock.now < clock.high
    clock.nowText = text(clock.now)
  end,

  -- The fields of the clock that this call changes.
  changes = function()
    local now, high, fields = clock.now, clock.high, {}
    if clock.mode == 'caller' then
      if now > high then fields = { 'high', clock.nowText } end
      clock.high = math.max(now, high)
      return fields
    end
    if now ~= clock.seen then fields = { 'seen', clock.nowText } end
    if clock.gapFrom ~= clock.oldGapFrom or clock.gapTo ~= clock.oldGapTo then
      fields[#fields + 1] = 'gapFrom'; fields[#fields + 1] = text(clock.gapFrom)
      fields[#fields + 1] = 'gapTo'; fields[#fields + 1] = text(clock.gapTo)
    end
    if (clock.isBehind or clock.isLowered) and high ~= clock.oldHigh then
      fields[#fields + 1] = 'high'; fields[#fields + 1] = text(high)
    end
    local step = clock.stepFrom and text(clock.stepFrom) .. ' ' .. text(clock.stepAfter) or ''
    if step ~= clock.oldStep then
      fields[#fields + 1] = 'step'; fields[#fields + 1] = step
      clock.oldStep = step
    end
    clock.seen, clock.oldGapFrom, clock.oldGapTo, clock.oldHigh = now, clock.gapFrom, clock.gapTo, high
    return fields
  end,
}

-- ── queues and their settings ───────────────────────────────────────────────────────────────────────────────────────

queues = {
  known = {}, shared = false, -- what a queue goes by that has set nothing: the global record over the defaults

  over = function(stored, below)
    if not stored then return below end
    return setmetatable(cjson.decode(stored:match('^[^\31]*\31[^\31]*\31[^\31]*\31(.*)$')), { __index = below })
  end,

  settings = function(queue)
    local known = queues.known[queue]
    if known then return known end
    local own, shared = unpack(call('HMGET', P .. 'records:queue', queue, '*'))
    queues.shared = queues.shared or queues.over(shared, K.defaults())
    known = queues.over(own, queues.shared)
    queues.known[queue] = known
    return known
  end,

  -- What retention says of a kind: a record says only those that somebody set.
  retention = function(queue, kind)
    local own = queues.settings(queue).retention
    local keep = own[kind] or queues.shared.retention[kind] or K.defaults().retention[kind]
    return queues.orNil(keep.ms), queues.orNil(keep.count), queues.orNil(keep.bytes)
  end,

  -- Whether the queue accepts no jobs.
  isShut = function(settings)
    return settings.state == 'down' or settings.state == 'deleted'
  end,

  -- A setting that may be null.
  orNil = function(value)
    if value ~= cjson.null then return value end
  end,
}

census = later(function(census)
  function census.all()
    return call('ZRANGE', P .. 'queues', 0, -1)
  end

  -- By bytes. Lua's own comparison goes by the locale of the server.
  function census.isByteBefore(a, b)
    for i = 1, math.min(#a, #b) do
      local byteA, byteB = a:byte(i), b:byte(i)
      if byteA ~= byteB then return byteA < byteB end
    end
    return #a < #b
  end

  -- After a queue's settings were written. Those of every queue are each queue's.
  function census.tellSettings(queue)
    work.emit('queue', queue, '', '')
    for _, each in ipairs(queue == '*' and census.all() or {}) do work.emit('queue', each, '', '') end
  end

  function census.byName()
    local all = census.all()
    table.sort(all, census.isByteBefore)
    return all
  end

  -- Jobs among the ready and plain ones whose time has not come: there are none unless the clock went back.
  function census.notDue(queue)
    local found = {}
    if not clock.isBehind then return found end
    local function collect(place, members)
      for _, job in ipairs(record.bySeqs(record.seqsOf(members))) do
        local isHere = job and job.place == place and job.queue == queue
        if isHere and record.runAt(job) > clock.now then found[#found + 1] = job end
      end
    end
    collect('w', call('ZRANGE', P .. 'ready:' .. queue, 0, -1))
    collect('k', call('ZRANGE', P .. 'parked:' .. queue, 0, -1))
    collect('f', call('LRANGE', P .. 'fifo:' .. queue, 0, -1))
    return found
  end

  -- Done jobs that have a result, from an end on, the oldest first, as far as a bounded look goes.
  function census.results(queue, from, limit)
    local found, key, offset, PAGE = {}, P .. 'done:' .. queue, 0, 500
    while #found < limit and offset < 10 * K.MOST_LOOKED_AT do
      local members = call('ZRANGEBYSCORE', key, from, '+inf', 'LIMIT', offset, PAGE)
      for _, job in ipairs(record.bySeqs(record.seqsOf(members))) do
        local isHere = job and job.place == 'd' and job.queue == queue and not job.isDeleted
        if isHere and #found < limit and select(2, rare.bytes(job)) then found[#found + 1] = job end
      end
      if #members < PAGE then return found end
      offset = offset + PAGE
    end
    return found
  end

  -- Every running job, queue by queue, the earliest end of a lease first.
  function census.running()
    local running = {}
    for _, queue in ipairs(census.all()) do
      local members = call('ZRANGE', P .. 'running:' .. queue, 0, -1)
      for _, job in ipairs(record.bySeqs(record.seqsOf(members))) do
        if job then running[#running + 1] = job end
      end
    end
    return running
  end
end)

-- ── records ─────────────────────────────────────────────────────────────────────────────────────────────────────────

record = {
  jobs = {}, -- id → job as it is and will be, or false
  PIECE = 64, -- seqs in one piece of the index by insertion
  TEXTS = { r = 'result', v = 'checkpoint', t = 'detail' }, -- may stand in `big`, as may d, the data

  -- What a request or a record says: \31 name=value for each thing.
  fields = function(words)
    local fields = {}
    for name, value in words:gmatch('\31(%a+)=([^\31]*)') do fields[name] = value end
    return fields
  end,

  parse = function(id, words)
    local rowsAt = words:find('\31+', 1, true)
    local dataAt = words:find('\31:', rowsAt or 1, true)
    local headEnd = (rowsAt or dataAt) - 1
    local place, seq, createdAt, queue, stop = words:match('^(.)(%S+) (%S+) ([^\31]+)()')
    return {
      id = id, place = place, seq = seq, createdAt = createdAt, queue = queue,
      fields = stop <= headEnd and record.fields(words:sub(stop, headEnd)) or {},
      rows = rowsAt and words:sub(rowsAt, dataAt - 1) or '',
      data = words:sub(dataAt),
    }
  end,

  -- The attempt and the lease come first and the count of rows last, for those who look no further (swift.lua).
  write = function(job)
    local fields = job.fields
    local attempt, lease, rows = fields.attempt, fields.lease, fields.rows
    local parts, n = { job.place, job.seq, ' ', job.createdAt, ' ', job.queue }, 6
    if attempt then parts[7], parts[8], n = '\31attempt=', attempt, 8 end
    if lease then parts[n + 1], parts[n + 2], n = '\31lease=', lease, n + 2 end
    for name, value in pairs(fields) do
      if name ~= 'attempt' and name ~= 'lease' and name ~= 'rows' then
        parts[n + 1], parts[n + 2], parts[n + 3], parts[n + 4] = '\31', name, '=', value
        n = n + 4
      end
    end
    if rows then parts[n + 1], parts[n + 2], n = '\31rows=', rows, n + 2 end
    parts[n + 1], parts[n + 2] = job.rows, job.data
    return table.concat(parts)
  end,

  -- Loads what is not yet known. Lua's stack holds 8,000 arguments; lists are far shorter.
  load = function(ids)
    local jobs, missing, n = record.jobs, {}, 0
    for i = 1, #ids do
      local id = ids[i]
      if jobs[id] == nil then
        n = n + 1
        missing[n], jobs[id] = id, false
      end
    end
    for from = 1, n, work.STEP do
      local to = math.min(from + work.STEP - 1, n)
      local found = call('HMGET', P .. 'j', unpack(missing, from, to))
      for i = from, to do
        local words = found[i - from + 1]
        if words then jobs[missing[i]] = record.parse(missing[i], words) end
      end
    end
  end,

  -- The ids of seqs, false where there is none.
  idsOf = function(seqs)
    local ids, from, n, PIECE = {}, 1, #seqs, record.PIECE
    while from <= n do
      local piece, fields, to = math.floor(seqs[from] / PIECE), {}, from
      repeat
        fields[to - from + 1] = ('%d'):format(seqs[to] % PIECE)
        to = to + 1
      until to > n or math.floor(seqs[to] / PIECE) ~= piece
      local found = call('HMGET', P .. 's:' .. piece, unpack(fields))
      for i = from, to - 1 do ids[i] = found[i - from + 1] end
      from = to
    end
    local births = work.births -- which this call has yet to write
    for i = 1, births and n or 0 do ids[i] = ids[i] or births.ids[seqs[i] - births.first + 1] or false end
    return ids
  end,

  -- The jobs of seqs, in their order; false for what is only a leftover.
  bySeqs = function(seqs)
    local ids, known, found, jobs = record.idsOf(seqs), {}, {}, record.jobs
    for i = 1, #seqs do
      if ids[i] then known[#known + 1] = ids[i] end
    end
    record.load(known)
    for i = 1, #seqs do
      local job = ids[i] and jobs[ids[i]]
      found[i] = job and tonumber(job.seq) == tonumber(seqs[i]) and job or false
    end
    return found
  end,

  -- Members of indexes end in 13 hexadecimal digits of seq; those of a fifo are the bare seq.
  seqsOf = function(members)
    local seqs = {}
    for i = 1, #members do
      local member = members[i]
      seqs[i] = #member >= 13 and tonumber(member:sub(-13), 16) or tonumber(member)
    end
    return seqs
  end,

  runAt = function(job)
    return tonumber(job.fields.runAt or job.createdAt)
  end,

  -- Since when a job that waits can be claimed: core/job/job.ts.
  readySince = function(job)
    return math.max(record.runAt(job), tonumber(job.createdAt), number(job.fields.freedAt))
  end,

  setRunAt = function(job, at)
    local value = text(at)
    job.fields.runAt = value ~= job.createdAt and value or nil
  end,

  -- Due after a delay from now.
  setDue = function(job, delayMs)
    record.setRunAt(job, clock.now + delayMs)
    job.fields.delayMs = text(delayMs)
  end,

  -- Sets a counter or a time; 0 is the default of all of them.
  setNumber = function(job, name, value)
    job.fields[name] = value ~= 0 and text(value) or nil
  end,

  -- The lease: token, length, end, start, worker. What was reported and asked since stands in fields of its own.
  lease = function(job)
    local lease = job.lease
    if not lease and job.fields.lease then
      local token, ms, to, claimedAt, worker = job.fields.lease:match('^(%S+) (%S+) (%S+) (%S+) (.*)$')
      lease = { token = token, ms = tonumber(ms), to = tonumber(to), claimedAt = claimedAt, worker = worker }
      job.lease = lease
    end
    return lease
  end,

  renewLease = function(job, lease)
    job.lease = lease
    job.fields.lease =
      lease.token .. ' ' .. text(lease.ms) .. ' ' .. text(lease.to) .. ' ' .. lease.claimedAt .. ' ' .. lease.worker
  end,

  endLease = function(job)
    local fields = job.fields
    job.lease, fields.lease = nil, nil
    if fields.slots or fields.counted then throttles.free(job) end
    -- Of those that were folded into it, only one that is done remembers the number.
    job.hadFolded = fields.folded ~= nil
    if job.place ~= 'd' then fields.folded = nil end
    fields.startedAt, fields.pid, fields.cancelAskedAt, fields.pauseAskedAt = nil, nil, nil, nil
  end,

  holds = function(job, token)
    return job and job.place == 'r' and record.lease(job).token == token
  end,

  -- A text that may be long: `value` in the record, or `apart` in `big`.
  setText = function(job, letter, value, apart)
    local fields = job.fields
    if apart or fields.apart then
      local letters, address = fields.apart or '', letter .. job.id
      letters = letters:gsub(letter, '') .. (apart and letter or '')
      fields.apart = letters ~= '' and letters or nil
      work.bigTexts = work.bigTexts or {}
      work.bigTexts[address] = apart or false
    end
    if letter == 'd' then job.data = '\31:' .. value else fields[record.TEXTS[letter]] = value end
  end,

  -- The same for what a request says.
  say = function(job, letter, value, said)
    record.setText(job, letter, value, said.texts and said.texts[letter])
  end,

  -- A job in an answer: id, record, and its texts that stand apart.
  show = function(answer, job)
    answer[#answer + 1] = job.id
    answer[#answer + 1] = job.written or record.write(job)
    for letter in (job.fields.apart or ''):gmatch('.') do
      answer[#answer + 1] = call('HGET', P .. 'big', letter .. job.id) or ''
    end
  end,

  -- Whether a record of the bookkeeping (records-*) has not expired: version \31 expiry \31 time of change \31 value.
  isLiving = function(words)
    local expiresAt = tonumber(words:match('^[^\31]*\31([^\31]*)'))
    return not expiresAt or expiresAt > clock.now
  end,
}

-- ── the unit of work ────────────────────────────────────────────────────────────────────────────────────────────────

work = {
  STEP = 4000, -- arguments of one command
  events = {}, isFollowed = false,
  touched = {}, lists = {}, order = {}, -- jobs; key of an index → what enters and leaves it; in order
  births = nil, bigTexts = nil, newQueues = nil, claims = nil, deleted = nil, popped = nil, dropped = nil, left = nil,
  groups = nil, addresses = nil, keys = nil, edges = nil, -- each made when it is needed

  -- What will be written. Parts that few operations need are made when they are needed.
  reset = function()
    work.touched, work.lists, work.order = {}, {}, {} -- jobs; key of an index → what enters and leaves it; in order
    work.births, work.bigTexts, work.newQueues, work.claims, work.deleted = nil, nil, nil, nil, nil
    work.popped, work.dropped, work.left, work.groups, work.addresses, work.keys = nil, nil, nil, nil, nil, nil
    work.edges = nil
  end,

  writeMany = function(command, key, list)
    local STEP, n = work.STEP, #list
    if n == 0 then return end
    if n <= STEP then return write(command, P .. key, unpack(list)) end
    for from = 1, n, STEP do write(command, P .. key, unpack(list, from, math.min(from + STEP - 1, n))) end
  end,

  list = function(key)
    local list = work.lists[key]
    if not list then
      list = { key = key, entries = {}, members = {} }
      work.lists[key] = list
      work.order[#work.order + 1] = list
    end
    return list
  end,

  put = function(key, score, member)
    local entries = work.list(key).entries
    local n = #entries
    entries[n + 1], entries[n + 2] = score, member
  end,

  drop = function(key, member)
    local members = work.list(key).members
    members[#members + 1] = member
  end,

  hex = function(job)
    local hex = job.hex
    if not hex then
      hex = ('%013x'):format(job.seq)
      job.hex = hex
    end
    return hex
  end,

  -- Ready jobs of one priority stand by time, then insertion; returned work by when it came back.
  readyMember = function(job)
    local returnedAt, turn = tonumber(job.fields.returnedAt), job.fields.turn
    local time = ('%011x'):format(math.max(0, math.min(returnedAt or record.runAt(job), 17592186044415)))
    -- A turn comes before the time, and after those that have none: no digit goes as far as z.
    return (turn and not returnedAt and 'z' .. ('%011x'):format(turn) or '') .. time .. work.hex(job)
  end,

  -- The index a job stands in, its member and its score. The fifo is none of them.
  place = function(job)
    local place, fields, queue = job.place, job.fields, job.queue
    if place == 'r' then return 'running:' .. queue, work.hex(job), text(record.lease(job).to) end
    if place == 'd' then return 'done:' .. queue, work.hex(job), fields.endedAt end
    if place == 'w' then
      local runAt = record.runAt(job)
      if runAt > clock.now then return 'later:' .. queue, work.hex(job), text(runAt) end
      return 'ready:' .. queue, work.readyMember(job), fields.returnedAt and '-inf' or fields.priority or '0'
    end
    if place == 'k' then
      return 'parked:' .. queue, work.readyMember(job), fields.returnedAt and '-inf' or fields.priority or '0'
    end
    if place == 'p' then return 'draft:' .. queue, work.hex(job), job.createdAt end
    if place == 'b' then return 'blocked:' .. queue, work.hex(job), job.seq end
    if place ~= 'f' then return STATE[place] .. ':' .. queue, work.hex(job), fields.endedAt end
  end,

  -- The indexes besides: groups of failures, what was handed on, who is parked under which throttle, and folded into whom.
  side = function(job)
    local fields = job.fields
    if job.place == 'k' then return 'park:' .. job.queue .. ':' .. fields.parked end
    if job.place == 'b' and fields.into then return 'folds:' .. fields.into end
    if job.place == 'x' then return 'group:' .. job.queue .. ':' .. fields.group end
    if job.place == 'd' and fields.forwardedTo then return 'relayed:' .. job.queue end
  end,

  -- Before a job is changed: what it was decides which indexes it leaves. A waiting one may stand in either of two.
  touch = function(job)
    if job.isTouched then return end
    job.isTouched = true
    work.touched[#work.touched + 1] = job
    job.oldTags, job.oldSlots, job.oldLease = job.fields.tags, job.fields.slots, nil
    job.oldEqual = job.fields.equal and 'equals:' .. job.queue .. ':' .. job.fields.equal
    local place = job.place
    if place == 'f' then
      job.wasIn = job.queue
    elseif place == 'w' then
      job.oldKey, job.oldMember, job.oldLater = 'ready:' .. job.queue, work.readyMember(job), 'later:' .. job.queue
    elseif place == 'b' then
      job.oldKey, job.oldMember, job.oldSide = 'blocked:' .. job.queue, work.hex(job), work.side(job)
    elseif place == 'k' then
      job.oldKey, job.oldMember, job.oldSide = 'parked:' .. job.queue, work.readyMember(job), work.side(job)
    else
      job.oldKey, job.oldMember, job.oldSide = STATE[place] .. ':' .. job.queue, work.hex(job), work.side(job)
      job.oldLease = job.fields.lease
      if place == 'd' or place == 'x' or place == 'c' then rare.keep(job, -1) end
    end
  end,

  -- Once it is changed: it enters what it is in now, and leaves what it is no longer in.
  settleIn = function(job)
    local key, member, score, side, tags
    local isInLine = not job.isDeleted and STATE[job.place] == 'waiting' and job.place ~= 'b'
    local coalesce = isInLine and job.isNews and queues.orNil(queues.settings(job.queue).coalesce)
    if coalesce or job.oldEqual then folds.settle(job, isInLine, coalesce) end
    if job.fields.parked and job.place ~= 'k' then job.fields.parked = nil end
    if not job.isDeleted then
      key, member, score = work.place(job)
      side, tags = work.side(job), job.fields.tags
      local place = job.place
      if place == 'd' or place == 'x' or place == 'c' then rare.keep(job, 1) end
    end
    local oldKey, oldLater, oldSide = job.oldKey, job.oldLater, job.oldSide
    if key then work.put(key, score, member) end
    if oldKey and (oldKey ~= key or job.oldMember ~= member) then work.drop(oldKey, job.oldMember) end
    if oldLater and oldLater ~= key then work.drop(oldLater, work.hex(job)) end
    if side or oldSide then rare.settleSide(job, side, oldSide) end
    if tags ~= job.oldTags then rare.settleTags(job, tags) end
    if job.fields.slots ~= job.oldSlots then throttles.settleSlots(job, job.fields.slots, job.oldSlots) end
  end,

  -- Entries of a fifo that are taken from its head, and those among them that were only leftovers.
  pop = function(queue, count, leftover)
    work.popped, work.dropped = work.popped or {}, work.dropped or {}
    work.popped[queue] = count
    local dropped = work.dropped[queue] or {}
    work.dropped[queue] = dropped
    if leftover then dropped[#dropped + 1] = leftover end
    return #dropped
  end,

  -- Answers the group of events alike, for whoever has many of them.
  emit = function(event, queue, state, id)
    local group = work.events[#work.events]
    if not group or group[1] ~= event or group[3] ~= queue or group[2] ~= state then
      group = { event, state, queue }
      work.events[#work.events + 1] = group
    end
    group[#group + 1] = id
    return group
  end,

  -- Everything goes to `events`; what workers must hear of (core/ports/job-store.ts) to `work` as well.
  publish = function()
    local lines, about, isAbout = {}, {}, nil
    for i = 1, #work.events do
      local group = work.events[i]
      lines[i] = table.concat(group, '\31')
      if group[2] ~= 'waiting' and not isAbout then isAbout = K.workEvents() end
      if group[2] == 'waiting' or isAbout[group[1]] then about[#about + 1] = lines[i] end
    end
    if #lines > 0 then call('PUBLISH', P .. 'events', table.concat(lines, '\30')) end
    if #about > 0 then call('PUBLISH', P .. 'work', table.concat(about, '\30')) end
    work.events = {}
  end,

  -- The end of an operation. One that is followed by a claim leaves the writing to that, unless the claim might take
  -- what it has just given back.
  finish = function()
    local isAwaited = not work.isFollowed
    for i = 1, #work.touched do isAwaited = isAwaited or work.touched[i].place == 'w' end
    if not isAwaited then return end
    work.flush()
    work.publish()
  end,

  -- What leaves a fifo: for the mender, and from the middle for the set of those that are gone.
  logFifo = function(lines, job)
    lines[#lines + 1] = 'fifo:' .. job.wasIn .. '\31' .. job.seq
    if job.isPopped then return end
    work.left = work.left or {}
    work.left[job.wasIn] = work.left[job.wasIn] or {}
    table.insert(work.left[job.wasIn], job.seq)
  end,

  -- What a mender must know if this operation does not come to its end: who was touched, and what was to be left.
  log = function()
    local touched, order, seqs, lines = work.touched, work.order, {}, {}
    for i = 1, #touched do
      local job = touched[i]
      seqs[i] = job.seq
      if job.wasIn and (job.isDeleted or job.place ~= 'f') then work.logFifo(lines, job) end
    end
    if work.births then seqs[#seqs + 1] = text(work.births.first) .. '-' .. text(clock.seq) end
    for queue, leftovers in pairs(work.dropped or {}) do
      if #leftovers > 0 then lines[#lines + 1] = 'fifo:' .. queue .. '\31' .. table.concat(leftovers, '\31') end
    end
    for i = 1, #order do
      local members = order[i].members
      if #members > 0 then lines[#lines + 1] = order[i].key .. '\31' .. table.concat(members, '\31') end
    end
    if work.addresses then lines[#lines + 1] = 'keys\31' .. table.concat(work.addresses, '\31') end
    if work.edges then edges.log(lines) end
    return table.concat(seqs, ' ') .. '\30' .. table.concat(lines, '\30')
  end,

  -- One HSET holds all records of a call, and a claim's memory with them: either all of it is done or none.
  writeRecords = function()
    local set, touched = work.births and work.births.records or {}, work.touched
    local n = #set
    for i = 1, #touched do
      local job = touched[i]
      if not job.isDeleted then
        local written = record.write(job)
        job.written, set[n + 1], set[n + 2] = written, job.id, written
        n = n + 2
      end
    end
    if work.claims then set[n + 1], set[n + 2] = unpack(work.claims) end
    local isMany = statistics.append(set, clock.nowText)
    work.writeMany('HSET', 'j', set)
    if isMany then aggregates().aggregate() end
  end,

  writeFifos = function()
    local births = work.births
    for i = 1, births and #births.queues or 0 do
      work.writeMany('RPUSH', 'fifo:' .. births.queues[i], births.fifo[births.queues[i]])
    end
    for queue, count in pairs(work.popped or {}) do
      work.writeMany('SREM', 'gone:' .. queue, work.dropped[queue])
      write('LTRIM', P .. 'fifo:' .. queue, count, -1)
    end
    for queue, seqs in pairs(work.left or {}) do work.writeMany('SADD', 'gone:' .. queue, seqs) end
  end,

  -- Entering first and leaving after: what is stopped in between stands in two places, never in none.
  writeIndexes = function()
    local order = work.order
    for i = 1, #order do work.writeMany('ZADD', order[i].key, order[i].entries) end
    for i = 1, #order do work.writeMany('ZREM', order[i].key, order[i].members) end
    for _, key in ipairs(work.groups or {}) do
      -- A group of failures that has lost its last member is no group, so with a tag, and who has nobody parked does not wait.
      local kind, queue, name = key:match('^(%l+):([^:]*):(.*)$')
      if queue and call('EXISTS', P .. key) == 0 then
        if kind == 'group' then write('ZREM', P .. 'groups:' .. queue, name) end
        if kind == 'park' then write('ZREM', P .. 'parks:' .. name, queue) end
        if kind == 'park' and name:find('^n:') then write('ZREM', P .. 'needs:' .. queue, name) end
      end
      local tag = key:match('^tag:(.*)$')
      if tag and call('EXISTS', P .. key) == 0 then write('ZREM', P .. 'tags', tag) end
    end
  end,

  -- The first write: the counters, and what is under way. Answers whether there is anything.
  open = function()
    if #work.touched == 0 and not work.births and not work.popped and #work.order == 0 then return false end
    local meta = { 'open', work.log() }
    if clock.seq ~= clock.oldSeq then
      meta[3], meta[4], clock.oldSeq = 'seq', text(clock.seq), clock.seq
    end
    if clock.token ~= clock.oldToken then
      local n = #meta
      meta[n + 1], meta[n + 2], clock.oldToken = 'token', text(clock.token), clock.token
    end
    write('HSET', P, unpack(meta))
    return true
  end,

  -- The last: the time, and that nothing is under way. Time comes last because a clock that went back is noticed by
  -- what is stored: were it written first, a stop would leave the leases as they were for good.
  close = function(wasOpen)
    local meta = clock.changes()
    local n = #meta
    if wasOpen then meta[n + 1], meta[n + 2] = 'open', '' end
    if #meta > 0 then write('HSET', P, unpack(meta)) end
  end,

  -- Writes all that was decided. The first write says what is under way and the last that it is done.
  flush = function()
    local touched = work.touched
    for i = 1, #touched do work.settleIn(touched[i]) end
    if not work.open() then return work.close(false) end
    if work.births then rare.writePieces(work.births) end
    if work.newQueues then rare.writeQueues(work.newQueues) end
    local forgotten = work.bigTexts and rare.writeBigTexts(work.bigTexts)
    if work.edges then edges.writeMade() end
    work.writeRecords()
    if work.deleted then work.writeMany('HDEL', 'j', work.deleted.ids) end
    if work.keys then keys.write(work.keys) end
    if work.births or work.popped or work.left then work.writeFifos() end
    work.writeIndexes()
    if work.edges then edges.writeLeft() end
    if forgotten then work.writeMany('HDEL', 'big', forgotten) end
    if work.deleted then rare.writeDeletions(work.deleted) end
    work.close(true)
    for i = 1, #touched do
      local job = touched[i]
      job.isTouched, job.wasIn, job.isPopped, job.isNews = nil, nil, nil, nil
      job.oldKey, job.oldLater, job.oldSide = nil, nil, nil
    end
    work.reset()
  end,
}

rare = later(function(rare)
  -- How long a text of a job is, wherever it stands; the data has a checksum before it.
  local function size(job, letter, value)
    if (job.fields.apart or ''):find(letter, 1, true) then
      local pending = work.bigTexts and work.bigTexts[letter .. job.id]
      local length = pending and #pending or call('HSTRLEN', P .. 'big', letter .. job.id)
      return letter == 'd' and length - 8 or length
    end
    return value and #value
  end

  -- A mark was put on a job or taken from it: core/job/tracked-jobs.ts. Of one that is gone only the id is known.
  function rare.marked(id, event)
    record.load({ id })
    local job = record.jobs[id]
    work.emit(event, job and job.queue or '', job and STATE[job.place] or '', id)
  end

  -- What an ended job takes up, and its result alone, if it has one: core/statistics/storage.ts.
  function rare.bytes(job)
    local result = size(job, 'r', job.fields.result)
    return size(job, 'd', job.data:sub(11)) + (result or 0) + (size(job, 'v', job.fields.checkpoint) or 0), result
  end

  -- An ended job enters what its queue keeps, or leaves it.
  function rare.keep(job, sign)
    local bytes, result = rare.bytes(job)
    statistics.store(job.queue, job.place, bytes, result, sign)
  end

  function rare.settleSide(job, side, oldSide)
    local member, isParked = work.hex(job), job.place == 'k'
    if side and isParked then
      local _, parkedMember, score = work.place(job)
      work.put(side, score, parkedMember)
      work.put('parks:' .. job.fields.parked, 0, job.queue)
      if job.fields.parked:find('^n:') then work.put('needs:' .. job.queue, 0, job.fields.parked) end
    elseif side then
      work.put(side, job.fields.endedAt or job.seq, member)
    end
    if side and job.place == 'x' then work.put('groups:' .. job.queue, 0, job.fields.group) end
    if oldSide and (oldSide ~= side or (isParked and job.oldMember ~= work.readyMember(job))) then
      work.drop(oldSide, oldSide:sub(1, 5) == 'park:' and job.oldMember or member)
      work.groups = work.groups or {}
      work.groups[#work.groups + 1] = oldSide
    end
  end

  function rare.tagKeys(tags)
    local found = {}
    for tag in (tags and tags .. '\30' or ''):gmatch('([^\30]*)\30') do found['tag:' .. tag] = true end
    return found
  end

  function rare.settleTags(job, tags)
    local new = rare.tagKeys(tags)
    for key in pairs(new) do
      work.put(key, tonumber(job.seq), work.hex(job))
      work.put('tags', 0, key:sub(5))
    end
    for key in pairs(rare.tagKeys(job.oldTags)) do
      if not new[key] then
        work.drop(key, work.hex(job))
        work.groups = work.groups or {}
        work.groups[#work.groups + 1] = key
      end
    end
  end

  function rare.register(queue)
    work.newQueues = work.newQueues or {}
    if work.newQueues[queue] or call('ZSCORE', P .. 'queues', queue) then return end
    work.newQueues[queue] = true
    work.newQueues[#work.newQueues + 1] = queue
  end

  function rare.goTo(job, queue)
    if job.queue == queue then return end
    job.queue = queue
    rare.register(queue)
  end

  -- New jobs stand in the index by insertion before there is a record of them, so that a mender can find them.
  function rare.writePieces(births)
    local pieces, last, n, ids, PIECE = {}, nil, 0, births.ids, record.PIECE
    for i = 1, #ids do
      local seq = births.first + i - 1
      if not last or seq % PIECE == 0 then
        last, n = { piece = math.floor(seq / PIECE) }, 0
        pieces[#pieces + 1] = last
      end
      last[n + 1], last[n + 2], n = ('%d'):format(seq % PIECE), ids[i], n + 2
    end
    local directory = {}
    for i = 1, #pieces do
      local piece = pieces[i].piece
      work.writeMany('HSET', 's:' .. piece, pieces[i])
      directory[#directory + 1] = piece
      directory[#directory + 1] = piece
    end
    work.writeMany('ZADD', 's', directory)
  end

  function rare.writeQueues(names)
    if #names == 0 then return end
    local count, entries = call('ZCARD', P .. 'queues'), {}
    for i = 1, #names do
      entries[#entries + 1] = count + i
      entries[#entries + 1] = names[i]
    end
    work.writeMany('ZADD', 'queues', entries)
  end

  -- Sets what has a text and answers the addresses of what has none any more.
  function rare.writeBigTexts(texts)
    local set, gone = {}, {}
    for address, value in pairs(texts) do
      if value then
        set[#set + 1] = address
        set[#set + 1] = value
      else
        gone[#gone + 1] = address
      end
    end
    work.writeMany('HSET', 'big', set)
    return gone
  end

  function rare.writeDeletions(deleted)
    for i = 1, #deleted do
      local job = deleted[i]
      local piece = math.floor(job.seq / record.PIECE)
      write('HDEL', P .. 's:' .. piece, job.seq % record.PIECE)
      if call('EXISTS', P .. 's:' .. piece) == 0 then write('ZREM', P .. 's', piece) end
      record.jobs[job.id] = false
    end
  end
end)

-- ── unique keys: address → "<until> <id>" ───────────────────────────────────────────────────────────────────────────

keys = later(function(keys)
  keys.known = {}

  function keys.of(job)
    if not job.fields.unique then return nil end
    local scope, ends, periodMs, key = job.fields.unique:match('^(%S+) (%S+) (%S+) (.*)$')
    return { scope = scope, ends = ends, periodMs = tonumber(periodMs), key = key }
  end

  function keys.address(unique, queue)
    return unique.scope == 'store' and 's:' .. unique.key or 'q:' .. queue .. ':' .. unique.key
  end

  function keys.entry(address)
    if keys.known[address] == nil then keys.known[address] = call('HGET', P .. 'keys', address) end
    return keys.known[address]
  end

  function keys.holder(address)
    local entry = keys.entry(address)
    if not entry then return nil end
    local to, id = entry:match('^(%S+) (.*)$')
    if to == '-' or tonumber(to) > clock.now then return id end
  end

  function keys.set(address, entry)
    work.keys = work.keys or {}
    keys.known[address], work.keys[address] = entry, entry
  end

  function keys.release(address, id)
    local entry = keys.entry(address)
    if entry and entry:match('^%S+ (.*)$') == id then keys.set(address, false) end
  end

  -- Takes the key if it is free. A period is counted from the first taking.
  function keys.take(job)
    local unique = keys.of(job)
    if not unique then return end
    local address = keys.address(unique, job.queue)
    if keys.holder(address) then return end
    keys.set(address, (unique.ends == 'period' and text(clock.now + unique.periodMs) or '-') .. ' ' .. job.id)
  end

  function keys.isOver(unique, state)
    if unique.ends == 'period' then return false end
    return state == 'done' or state == 'failed' or state == 'cancelled' or (unique.ends == 'started' and state == 'running')
  end

  -- The job that stands in the way of this one's unique key in that queue, if any.
  function keys.holderAgainst(job, queue)
    local unique = keys.of(job)
    local holder = unique and keys.holder(keys.address(unique, queue))
    if holder ~= job.id then return holder end
  end

  function keys.isHeldBy(job)
    local unique = keys.of(job)
    return unique and keys.holder(keys.address(unique, job.queue)) == job.id
  end

  function keys.note(address)
    work.addresses = work.addresses or {}
    work.addresses[#work.addresses + 1] = address
  end

  -- A key that a job holds ends with it or goes along to its next queue.
  function keys.follow(job, queueBefore)
    local unique = keys.of(job)
    local from, to = keys.address(unique, queueBefore), keys.address(unique, job.queue)
    local isOver, hasMoved = keys.isOver(unique, STATE[job.place]), from ~= to
    local isKept = hasMoved and not isOver and keys.holder(from) == job.id
    keys.note(from)
    if isOver or hasMoved then keys.release(from, job.id) end
    if isKept then keys.take(job) end
  end

  function keys.write(changes)
    local set, gone, periods = {}, {}, {}
    for address, entry in pairs(changes) do
      if entry then
        set[#set + 1] = address
        set[#set + 1] = entry
        local to = entry:match('^%S+')
        if to ~= '-' then
          periods[#periods + 1] = to
          periods[#periods + 1] = address
        end
      else
        gone[#gone + 1] = address
      end
    end
    work.writeMany('ZADD', 'periods', periods)
    work.writeMany('HSET', 'keys', set)
    work.writeMany('HDEL', 'keys', gone)
    work.writeMany('ZREM', 'periods', gone)
  end
end)

-- ── who waits for whom: core/lifecycle/dependencies.ts and core/operations/dependents.ts, restated ─────────────────────────────

edges = later(function(edges)
  local NAMED = 10 -- of the ids in a refusal

  -- Of a child: how many parents, how many of them are open, how many of those failed or were cancelled.
  function edges.numbers(job)
    local of, open, bad = (job.fields.parents or '0 0 0'):match('^(%d+) (%d+) (%d+)$')
    return tonumber(of), tonumber(open), tonumber(bad)
  end

  function edges.count(job, moreOf, moreOpen, moreBad)
    local of, open, bad = edges.numbers(job)
    of = of + moreOf
    job.fields.parents = of > 0 and ('%d %d %d'):format(of, open + moreOpen, bad + moreBad) or nil
  end

  function edges.rule(job)
    return job.fields.onDependencyFailed or queues.settings(job.queue).onDependencyFailed
  end

  function edges.isBad(job)
    return job.place == 'x' or job.place == 'c'
  end

  function edges.isEnded(job)
    return job.place == 'd' or edges.isBad(job)
  end

  function edges.isOpenFor(parent, rule)
    return parent.place ~= 'd' and not (rule == 'run' and edges.isBad(parent))
  end

  -- What a set of edges will be: a score for a member that enters, false for one that leaves.
  function edges.set(key, member, score)
    work.edges = work.edges or {}
    work.edges[key] = work.edges[key] or {}
    work.edges[key][member] = score
  end

  function edges.has(key, member)
    local pending = work.edges and work.edges[key] and work.edges[key][member]
    if pending ~= nil then return pending ~= false end
    return call('ZSCORE', P .. key, member) ~= false
  end

  -- Open, closed, or nil.
  function edges.of(parent, child)
    local parentHex, childHex = work.hex(parent), work.hex(child)
    if not edges.has('up:' .. childHex, parentHex) then return nil end
    return edges.has('wait:' .. parentHex, childHex) and 'open' or 'closed'
  end

  function edges.link(parent, child, isOpen)
    local parentHex, childHex = work.hex(parent), work.hex(child)
    edges.set('up:' .. childHex, parentHex, parent.seq)
    edges.set('kids:' .. parentHex, childHex, child.seq)
    if isOpen then edges.set('wait:' .. parentHex, childHex, child.seq) end
  end

  function edges.countDependents(parent, more)
    work.touch(parent)
    record.setNumber(parent, 'dependents', number(parent.fields.dependents) + more)
  end

  -- The members of a set of edges as this call has left it, as seqs.
  function edges.members(key)
    local pending, seqs = work.edges and work.edges[key] or {}, {}
    for _, member in ipairs(call('ZRANGE', P .. key, 0, -1)) do
      if pending[member] == nil then seqs[#seqs + 1] = tonumber(member, 16) end
    end
    for member, score in pairs(pending) do
      if score then seqs[#seqs + 1] = tonumber(member, 16) end
    end
    table.sort(seqs)
    return seqs
  end

  -- The jobs that wait for this one, by insertion.
  function edges.openChildren(parent)
    local children = {}
    for _, job in ipairs(record.bySeqs(edges.members('wait:' .. work.hex(parent)))) do
      if job and not job.isDeleted then children[#children + 1] = job end
    end
    return children
  end

  -- ── what follows from what happened to a parent ──

  function edges.close(child)
    edges.count(child, 0, -1, 0)
    if child.place ~= 'b' then return false end
    life.wait(child)
    return false, child.place == 'w' and 'unblocked' or nil
  end

  function edges.failBy(child, parent)
    local what = parent.isDeleted and 'was deleted' or parent.place == 'x' and 'failed' or 'was cancelled'
    local message = 'job ' .. parent.id .. ' ' .. what
    life.ended(child, 'x')
    life.setFailure(child, 'dependency', message)
    return message
  end

  -- Answers whether the edge stays open, and the event of the child's history with its note, if it is more than a count.
  function edges.follow(child, parent, wasBad)
    local rule, isGone = edges.rule(child), parent.isDeleted
    local isBad, isEnded = not isGone and edges.isBad(parent), edges.isEnded(child)
    if wasBad then edges.count(child, 0, 0, -1) end
    if not isGone and not isBad then
      if parent.place ~= 'd' then return true end
      return edges.close(child)
    end
    if rule == 'run' or (isGone and isEnded) then return edges.close(child) end
    if isGone then edges.count(child, 0, -1, 0) else edges.count(child, 0, 0, 1) end
    if isEnded or (isBad and rule == 'hold') then return isBad end
    return isBad, 'failed', edges.failBy(child, parent)
  end

  function edges.tellOf(turn, line)
    local parent, closed = turn.job, 0
    for _, child in ipairs(edges.openChildren(parent)) do
      work.touch(child)
      local isOpen, event, note = edges.follow(child, parent, turn.wasBad)
      if not isOpen then
        edges.set('wait:' .. work.hex(parent), work.hex(child), false)
        closed = closed + 1
      end
      if event then life.apply(child, event, { note = note }) end
      if event == 'failed' and child.fields.dependents then line[#line + 1] = { job = child, wasBad = false } end
    end
    if closed > 0 and edges.isBad(parent) and not parent.isDeleted then edges.countDependents(parent, -closed) end
  end

  -- Those who wait for these jobs hear of it, and so on. A line that grows while it is worked off.
  function edges.tell(line)
    local at = 1
    while line[at] do
      local job = line[at].job
      if job.isDeleted or job.place == 'd' or edges.isBad(job) ~= line[at].wasBad then edges.tellOf(line[at], line) end
      at = at + 1
    end
  end

  -- ── waiting for others, and no longer ──

  function edges.no(problem, ids, count)
    local words = { '!bad-dependency', problem, ('%d'):format(count or #ids) }
    for i = 1, math.min(NAMED, #ids) do words[#words + 1] = ids[i] end
    return table.concat(words, ' ')
  end

  -- All that wait for a job, and for those, and so on, the nearest first; nothing when there are more than `most`.
  function edges.below(job, most, isMeant)
    local line, known, at = { job }, { [job.id] = true }, 1
    while line[at] do
      for _, child in ipairs(line[at].fields.dependents and edges.openChildren(line[at]) or {}) do
        if not known[child.id] and isMeant(child) then
          known[child.id] = true
          line[#line + 1] = child
        end
      end
      if #line > most then return nil end
      at = at + 1
    end
    table.remove(line, 1)
    return line
  end

  function edges.isLiving(job)
    return not edges.isEnded(job)
  end

  -- Only a job that others wait for can close a circle, and only with one of those.
  function edges.cycle(known, parents)
    if not known or not known.fields.dependents then return nil end
    local open, circular, any = {}, {}, false
    for i = 1, #parents do
      if parents[i].place ~= 'd' then open[parents[i].id], any = true, true end
    end
    if not any then return nil end
    local below = edges.below(known, K.MAX_WALKED, function() return true end)
    if not below then return edges.no('too-large', {}) end
    for i = 1, #below do
      if open[below[i].id] then circular[#circular + 1] = below[i].id end
    end
    table.sort(circular, census.isByteBefore)
    return #circular > 0 and edges.no('cycle', circular) or nil
  end

  -- The jobs that are to be waited for; or nothing, and why they cannot be.
  function edges.find(id, words, known)
    local wanted, seen, missing, crowded, parents = {}, {}, {}, {}, {}
    for each in (words or ''):gmatch('%S+') do
      if not seen[each] then wanted[#wanted + 1], seen[each] = each, true end
    end
    if seen[id] then return nil, edges.no('itself', { id }) end
    local count = #wanted + (known and (edges.numbers(known)) or 0)
    if count > K.MAX_PARENTS then return nil, edges.no('too-many', {}, count) end
    record.load(wanted)
    for i = 1, #wanted do
      local job = record.jobs[wanted[i]]
      if not job or job.isDeleted then
        missing[#missing + 1] = wanted[i]
      else
        parents[#parents + 1] = job
        if number(job.fields.dependents) >= K.MAX_DEPENDENTS then crowded[#crowded + 1] = wanted[i] end
      end
    end
    if #missing > 0 then return nil, edges.no('missing', missing) end
    if #crowded > 0 then return nil, edges.no('crowded', crowded) end
    local problem = edges.cycle(known, parents)
    if problem then return nil, problem end
    return parents
  end

  -- Counts the parents that are new to a child, or open for it again, and answers them.
  function edges.join(child, parents, isNew)
    local rule, made, opened = edges.rule(child), {}, {}
    for i = 1, #parents do
      local parent = parents[i]
      local edge = not isNew and edges.of(parent, child) or nil
      local isOpen = edges.isOpenFor(parent, rule)
      if not edge then made[#made + 1] = parent elseif edge == 'closed' and isOpen then opened[#opened + 1] = parent end
      if edge ~= 'open' and (isOpen or not edge) then
        edges.count(child, edge and 0 or 1, isOpen and 1 or 0, isOpen and edges.isBad(parent) and 1 or 0)
      end
    end
    for i = 1, #opened do made[#made + 1] = opened[i] end
    return made
  end

  -- The edges themselves. A child that goes by the rule fails at once with a parent that has failed.
  function edges.waitFor(child, parents)
    local rule, bad = edges.rule(child), nil
    for i = 1, #parents do
      local parent = parents[i]
      local isOpen = edges.isOpenFor(parent, rule)
      edges.link(parent, child, isOpen)
      if isOpen then edges.countDependents(parent, 1) end
      bad = bad or (rule == 'fail' and edges.isBad(parent) and parent) or nil
    end
    if not bad then return end
    life.apply(child, 'failed', { note = edges.failBy(child, bad) })
    if child.fields.dependents then edges.tell({ { job = child, wasBad = false } }) end
  end

  -- Takes these parents from a child; those that are none of its are passed over.
  function edges.part(child, parents)
    for i = 1, #parents do
      local parent = parents[i]
      local edge = edges.of(parent, child)
      local isOpen = edge == 'open'
      if edge then
        edges.count(child, -1, isOpen and -1 or 0, isOpen and edges.isBad(parent) and -1 or 0)
        if isOpen then edges.countDependents(parent, -1) end
        edges.drop(work.hex(parent), work.hex(child))
      end
    end
  end

  function edges.drop(parentHex, childHex)
    edges.set('wait:' .. parentHex, childHex, false)
    edges.set('kids:' .. parentHex, childHex, false)
    edges.set('up:' .. childHex, parentHex, false)
  end

  -- A child that is forgotten lets go of those it waits for.
  function edges.leave(child)
    local hex, _, open = work.hex(child), edges.numbers(child)
    local seqs = edges.members('up:' .. hex)
    local parents = open > 0 and record.bySeqs(seqs) or {}
    for i = 1, #seqs do
      local parent, parentHex = parents[i], ('%013x'):format(seqs[i])
      if parent and not parent.isDeleted and edges.has('wait:' .. parentHex, hex) then edges.countDependents(parent, -1) end
      edges.drop(parentHex, hex)
    end
  end

  -- ── writing: what is made before the records, what is left after them. An edge stands as long as its child says so in
  -- `up`, which is therefore written last when it is made and first when it is left ──

  -- The members of a set that enter, with their scores, or those that leave.
  function edges.writeSets(command, isUp)
    for key, members in pairs(work.edges) do
      local list = {}
      for member, score in pairs((key:find('^up:') ~= nil) == isUp and members or {}) do
        if score and command == 'ZADD' then list[#list + 1] = score end
        if (score and 'ZADD' or 'ZREM') == command then list[#list + 1] = member end
      end
      work.writeMany(command, key, list)
    end
  end

  function edges.writeMade()
    edges.writeSets('ZADD', false)
    edges.writeSets('ZADD', true)
  end

  function edges.writeLeft()
    edges.writeSets('ZREM', true)
    edges.writeSets('ZREM', false)
  end

  function edges.log(lines)
    for key, members in pairs(work.edges) do
      local parent = key:match('^%a+:(%x+)$')
      if not key:find('^up:') then
        for member in pairs(members) do lines[#lines + 1] = 'edge:' .. parent .. '\31' .. member end
      end
    end
  end

  -- ── mending: an open edge is true unless its parent is over; numbers are counted anew ──

  function edges.mendEdge(parentHex, childHex)
    local parent, child = unpack(record.bySeqs({ tonumber(parentHex, 16), tonumber(childHex, 16) }))
    if not child or not call('ZSCORE', P .. 'up:' .. childHex, parentHex) then
      write('ZREM', P .. 'wait:' .. parentHex, childHex)
      write('ZREM', P .. 'kids:' .. parentHex, childHex)
      write('ZREM', P .. 'up:' .. childHex, parentHex)
    elseif not (parent and edges.isOpenFor(parent, edges.rule(child))) then
      write('ZREM', P .. 'wait:' .. parentHex, childHex)
    end
  end

  -- The edges of a child that there is not.
  function edges.forget(hex)
    for _, parent in ipairs(call('ZRANGE', P .. 'up:' .. hex, 0, -1)) do
      write('ZREM', P .. 'wait:' .. parent, hex)
      write('ZREM', P .. 'kids:' .. parent, hex)
    end
    write('DEL', P .. 'up:' .. hex)
  end

  function edges.placeAnew(job)
    local before, queue = job.place, job.queue
    life.wait(job)
    if before == job.place then return end
    if before == 'b' then work.drop('blocked:' .. queue, work.hex(job)) end
    if before == 'f' then write('LREM', P .. 'fifo:' .. queue, 1, job.seq) end
    if before == 'w' then
      work.drop('ready:' .. queue, work.readyMember(job))
      work.drop('later:' .. queue, work.hex(job))
    end
  end

  function edges.recount(job)
    local hex, open, bad = work.hex(job), 0, 0
    local members = call('ZRANGE', P .. 'up:' .. hex, 0, -1)
    for i, parent in ipairs(record.bySeqs(record.seqsOf(members))) do
      if parent and edges.has('wait:' .. members[i], hex) then
        open, bad = open + 1, bad + (edges.isBad(parent) and 1 or 0)
      end
    end
    if #members > 0 or job.fields.parents then
      job.fields.parents = #members > 0 and ('%d %d %d'):format(#members, open, bad) or nil
      if job.place == 'b' or (open > 0 and STATE[job.place] == 'waiting') then edges.placeAnew(job) end
    end
    record.setNumber(job, 'dependents', call('ZCARD', P .. 'wait:' .. hex))
  end

  function edges.mend(lines, found)
    for parentHex, childHex in lines:gmatch('edge:(%x+)\31(%x+)') do edges.mendEdge(parentHex, childHex) end
    for i = 1, #found do
      if found[i] and found[i].place == 'd' then write('DEL', P .. 'wait:' .. work.hex(found[i])) end
    end
    for i = 1, #found do
      local before = found[i] and record.write(found[i])
      if before then edges.recount(found[i]) end
      if before and record.write(found[i]) ~= before then write('HSET', P .. 'j', found[i].id, record.write(found[i])) end
    end
  end
end)

-- ── the lifecycle: core/lifecycle/lifecycle.ts, restated ──────────────────────────────────────────────────────────────────────

life = {
  -- Cuts a note as JavaScript counts: in units of UTF-16, of which a character of four bytes has two.
  cut = function(note)
    local MOST = K.MAX_NOTE_LENGTH
    if #note <= MOST then return note end
    local units, at = 0, 1
    while at <= #note do
      local byte = note:byte(at)
      local size = byte < 128 and 1 or byte < 224 and 2 or byte < 240 and 3 or 4
      units = units + (size == 4 and 2 or 1)
      if units > MOST then return note:sub(1, at - 1) end
      at = at + size
    end
    return note
  end,

  -- Appends a row to the history; the first of a job is not stored and never goes.
  remember = function(job, event, token, by, note)
    local fields, place = job.fields, job.place
    local row = '\31+' .. K.EVENT[event] .. (place == 'f' and 'w' or place) .. text(clock.now - job.createdAt) .. ' '
      .. (fields.attempt or '0') .. (token and ' ' .. token or '') .. (by and '\30b' .. by or '')
    if note then row = row .. '\30n' .. life.cut(note) end
    local rows, count = job.rows .. row, number(fields.rows) + 1
    if count > K.MAX_HISTORY - 1 then
      local second = rows:find('\31+', 3, true)
      rows, count = rows:sub(second), count - 1
    end
    job.rows, fields.rows = rows, text(count)
  end,

  -- The record is changed: its history, its unique key, the event and its hooks follow.
  apply = function(job, event, details)
    life.remember(job, event, details.token, details.by, details.note)
    life.count(job, event, details)
    if job.fields.unique then keys.follow(job, details.from or job.queue) end
    work.emit(event, job.queue, STATE[job.place], job.id)
    job.isNews = true
    if job.fields.hooks or clock.hooked then outbox.tell(job, event) end
    if job.hadFolded then folds.follow(job, event) end
  end,

  -- What the statistics count of it: core/statistics/statistics.ts.
  count = function(job, event, details)
    if event == 'claimed' then
      local group = statistics.group(job.queue, details.by, job.oldTags or '')
      return statistics.measure(group, 'w', clock.now - record.readySince(job))
    end
    if not job.oldLease or job.place == 'r' or job.place == 'c' then return end
    local claimedAt, worker = job.oldLease:match('^%S+ %S+ %S+ (%S+) (.*)$')
    job.oldLease = nil
    local group = statistics.group(details.from or job.queue, worker, job.oldTags or '')
    if event == 'completed' or event == 'advanced' or event == 'forwarded' then
      return statistics.measure(group, 'r', clock.now - claimedAt)
    end
    loss.count(job, event, group)
  end,

  -- Whoever waits for it waits no longer once it is done.
  ended = function(job, place)
    job.place = place
    record.endLease(job)
    local fields = job.fields
    if place == 'd' then fields.dependents = nil end
    fields.endedAt, fields.returnedAt, fields.into = clock.nowText, nil, nil
  end,

  -- Among those that wait: for a worker or its time, or for other jobs. One that no longer waits for others has come free.
  wait = function(job)
    local parents, wasBlocked = job.fields.parents, job.place == 'b'
    job.place = (job.fields.into or (parents and not parents:find('^%d+ 0 '))) and 'b' or 'w'
    if wasBlocked and job.place == 'w' then job.fields.freedAt = clock.nowText end
  end,

  -- Another time for a job. One that is moved into the past does not wait since then, but since its old time or now.
  moveTo = function(job, runAt)
    local dueAt = math.min(record.runAt(job), clock.now)
    record.setRunAt(job, runAt)
    if STATE[job.place] ~= 'waiting' or runAt >= dueAt then return end
    if dueAt > record.readySince(job) then job.fields.freedAt = text(dueAt) end
  end,

  setFailure = function(job, group, message, detail, apart)
    job.fields.group, job.fields.message = group, message
    record.setText(job, 't', detail, apart)
  end,
}

loss = later(function(loss)
  -- How an attempt that did not complete counts, for its heap and for the group of its failure.
  function loss.count(job, event, group)
    local isFailed, isFailure = job.place == 'x', event == 'failed' or event == 'retried'
    local isBreak = event == 'lost' or event == 'released' or event == 'moved' or event == 'requeued'
    local isRetry = not isFailed and (isFailure or event == 'resent')
    local ends = { isRetry and 1 or 0, isFailed and 1 or 0, isBreak and 1 or 0 }
    statistics.countEnd(group, ends, (isFailed or isFailure) and job.fields.group)
  end

  -- Back in the queue, before everything else; `since` puts it in line among the others that came back.
  function loss.returned(job, since, delayMs)
    job.place = 'w'
    record.endLease(job)
    job.fields.returnedAt = text(since)
    record.setDue(job, delayMs)
  end

  function loss.fresh(job)
    job.fields.into = nil
    life.wait(job)
    record.endLease(job)
    local fields = job.fields
    fields.returnedAt, fields.failures, fields.resends, fields.crashes = nil, nil, nil, nil
    fields.progress, fields.forwardedTo, fields.endedAt = nil, nil, nil
    record.setText(job, 'r', nil)
    life.setFailure(job, nil, nil, nil)
  end

  -- A lease that ended while the store saw nobody at all gets its whole length again.
  function loss.isOvertakable(job, settings)
    if job.place ~= 'r' or settings.onLost == 'hold' then return false end
    local lease = record.lease(job)
    local to = clock.gapFrom < lease.to and math.max(lease.to, clock.gapTo + lease.ms) or lease.to
    return clock.now >= to + settings.lostGraceMs
  end

  function loss.isHeld(job, settings)
    return job.place == 'r' and settings.onLost == 'hold' and clock.now >= record.lease(job).to
  end

  function loss.retriesOf(job, settings)
    return tonumber(job.fields.retries) or settings.retries
  end

  function loss.loseAsFailure(job, settings, why)
    local failures, since = number(job.fields.failures) + 1, math.min(record.lease(job).to, clock.now)
    record.setNumber(job, 'failures', failures)
    if failures <= loss.retriesOf(job, settings) then return loss.returned(job, since, 0) end
    life.ended(job, 'x')
    life.setFailure(job, queues.orNil(settings.exhaustedGroup) or 'lost', why)
  end

  function loss.loseAsCrash(job, settings, why)
    local crashes, since = number(job.fields.crashes) + 1, math.min(record.lease(job).to, clock.now)
    record.setNumber(job, 'crashes', crashes)
    if crashes < settings.maxCrashes then
      local delays = K.crashDelays()
      return loss.returned(job, since, delays[math.min(crashes, #delays)])
    end
    life.ended(job, 'x')
    life.setFailure(job, 'crashed', 'its worker was lost ' .. text(crashes) .. ' times', why)
  end

  -- What becomes of a job whose attempt is lost.
  function loss.lost(job, settings, why)
    if settings.onLost == 'fail' then
      life.ended(job, 'x')
      life.setFailure(job, 'lost', why)
    elseif settings.lostCountsAs == 'failure' then
      loss.loseAsFailure(job, settings, why)
    else
      loss.loseAsCrash(job, settings, why)
    end
  end

  -- The attempt's worker is gone: its lease ended, or somebody failed the worker.
  function loss.lose(job, settings, why)
    work.touch(job)
    local lease, event = record.lease(job), 'lost'
    if job.fields.cancelAskedAt then
      event = 'cancelled'
      life.ended(job, 'c')
    else
      loss.lost(job, settings, why)
    end
    life.apply(job, event, { token = lease.token, by = lease.worker, note = why })
    if job.fields.dependents then edges.tell({ { job = job, wasBad = false } }) end
  end

  -- Ends the attempts of a queue whose lease nobody renewed. Returns how many.
  function loss.overtake(queue, limit)
    local settings = queues.settings(queue)
    if settings.onLost == 'hold' then return 0 end
    local members = call('ZRANGEBYSCORE', P .. 'running:' .. queue, '-inf', clock.nowText, 'LIMIT', 0, limit)
    local expired, count = record.bySeqs(record.seqsOf(members)), 0
    for i = 1, #members do
      local job = expired[i]
      if job and loss.isOvertakable(job, settings) then
        loss.lose(job, settings, 'its lease was not renewed')
        count = count + 1
      end
    end
    if count > 0 then work.flush() end
    return count
  end

  function loss.remove(job)
    work.touch(job)
    local front = job.queue == 'hooks' and not edges.isEnded(job) and outbox.inFront(job)
    if job.fields.parents then edges.leave(job) end
    if STATE[job.place] == 'waiting' then throttles.passOn(job) end
    job.isDeleted = true
    work.deleted = work.deleted or { ids = {} }
    table.insert(work.deleted, job)
    table.insert(work.deleted.ids, job.id)
    for letter in (job.fields.apart or ''):gmatch('.') do
      work.bigTexts = work.bigTexts or {}
      work.bigTexts[letter .. job.id] = false
    end
    local unique = keys.of(job)
    if unique then
      local address = keys.address(unique, job.queue)
      keys.note(address)
      keys.release(address, job.id)
    end
    if front then outbox.handPlaceOn(job, front) end
    work.emit('deleted', job.queue, STATE[job.place], job.id)
    if job.fields.dependents then edges.tell({ { job = job, wasBad = edges.isBad(job) } }) end
  end
end)

-- ── throttles: core/limits/throttle.ts, core/limits/rate.ts and core/operations/throttles.ts, restated ────────────────────────────────

throttles = later(function(throttles)
  local counts, lasts, served = {}, {}, {}

  local function parts(words)
    return (words ~= '' and words .. '\30' or ''):gmatch('([^\30]*)\30')
  end

  -- What a field of the data makes of a key, if anything.
  local function keyPart(value)
    if type(value) == 'boolean' then return tostring(value) end
    if type(value) == 'number' then
      return value % 1 == 0 and value > -1e15 and value < 1e15 and ('%d'):format(value) or nil
    end
    if type(value) ~= 'string' or value:find('[%z\1-\31]') then return nil end
    return (value:gsub('[\\|]', '\\%0'))
  end

  local function dataOf(job)
    local address = 'd' .. job.id
    local isApart = (job.fields.apart or ''):find('d', 1, true)
    if not isApart then return job.data:sub(11) end
    return ((work.bigTexts and work.bigTexts[address]) or call('HGET', P .. 'big', address) or ''):sub(9)
  end

  function throttles.keyIn(job, paths)
    local isRead, whole = pcall(cjson.decode, dataOf(job))
    local found = {}
    for i = 1, #paths do
      local at = isRead and whole or nil
      for name in paths[i]:gmatch('[^.]+') do at = type(at) == 'table' and at[name] or nil end
      found[i] = keyPart(at)
      if not found[i] then return nil end
    end
    return table.concat(found, '|')
  end

  function throttles.keyOf(job, keys)
    if job.fields.key then return job.fields.key end
    return #keys.by > 0 and throttles.keyIn(job, keys.by) or nil
  end

  -- The addresses of which a job needs a slot each, in their order.
  function throttles.of(job, settings)
    local found, known, keys = {}, {}, queues.orNil(settings.keys)
    local key = keys and throttles.keyOf(job, keys)
    if key then found[1] = 'k:' .. job.queue .. ':' .. key end
    local function name(address)
      if not known[address] then found[#found + 1] = address end
      known[address] = true
    end
    if job.fields.throttles then
      for each in parts(job.fields.throttles) do name('t:' .. each) end
    else
      for i = 1, #settings.throttles do name('t:' .. settings.throttles[i]) end
    end
    return found
  end

  function throttles.maxOf(address)
    local queue = address:match('^k:([^:]*):')
    if queue then
      local keys = queues.orNil(queues.settings(queue).keys)
      return keys and queues.orNil(keys.limit)
    end
    local stored = call('HGET', P .. 'records:throttle', address:sub(3))
    return stored and cjson.decode(stored:match('^[^\31]*\31[^\31]*\31[^\31]*\31(.*)$')).max
  end

  -- With what this call has taken and given back, written or not.
  function throttles.held(address)
    counts[address] = counts[address] or call('ZCARD', P .. 'slots:' .. address)
    return counts[address]
  end

  function throttles.isFull(address)
    local max = throttles.maxOf(address)
    return max and throttles.held(address) >= max
  end

  function throttles.fullAmong(addresses)
    for i = 1, #addresses do
      if throttles.isFull(addresses[i]) then return addresses[i] end
    end
  end

  function throttles.take(job, addresses)
    for i = 1, #addresses do counts[addresses[i]] = throttles.held(addresses[i]) + 1 end
    job.fields.slots = #addresses > 0 and table.concat(addresses, '\30') or nil
  end

  -- The lease has ended: its slots go, and whoever waited for them comes back.
  function throttles.free(job)
    local slots, counted = job.fields.slots, job.fields.counted
    job.fields.slots, job.fields.counted = nil, nil
    for address in parts(slots or '') do counts[address] = throttles.held(address) - 1 end
    for address in parts(slots or '') do
      for _, queue in ipairs(call('ZRANGE', P .. 'parks:' .. address, 0, -1)) do throttles.letIn(address, queue) end
    end
    if counted then work.emit('freed', counted, '', '') end
  end

  function throttles.settleSlots(job, slots, oldSlots)
    for address in parts(slots or '') do work.put('slots:' .. address, 0, work.hex(job)) end
    for address in parts(oldSlots or '') do
      if not ('\30' .. (slots or '') .. '\30'):find('\30' .. address .. '\30', 1, true) then
        work.drop('slots:' .. address, work.hex(job))
      end
    end
  end

  -- Those that are parked, in the order of claims, go back to the ready ones. Returns how many.
  function throttles.unpark(key, limit, but)
    local offset, back = 0, 0
    while back < limit do
      local members = call('ZRANGE', P .. key, offset, offset + math.min(limit - back, 1000) - 1)
      if #members == 0 then return back end
      local found = record.bySeqs(record.seqsOf(members))
      offset = offset + #members
      for i = 1, #members do
        local job = found[i]
        if job and job ~= but and job.place == 'k' then
          work.touch(job)
          job.place = 'w'
          back = back + 1
        end
      end
    end
    return back
  end

  function throttles.letIn(address, queue, but)
    if throttles.isFull(address) or throttles.unpark('park:' .. queue .. ':' .. address, 1, but) == 0 then return false end
    work.emit('freed', queue, '', '')
    return true
  end

  -- A job goes without a slot: who waits behind it may have what it left. Answers whether somebody came back.
  function throttles.passOn(job)
    local cameBack, addresses = false, throttles.of(job, queues.settings(job.queue))
    for i = 1, #addresses do cameBack = throttles.letIn(addresses[i], job.queue, job) or cameBack end
    return cameBack
  end

  -- Whoever enters a queue whose keys take turns gets one.
  function throttles.enter(job)
    local queue, keys = job.queue, queues.orNil(queues.settings(job.queue).keys)
    job.fields.turn = nil
    if not keys then return end
    local key = throttles.keyOf(job, keys) or ''
    lasts[queue] = lasts[queue] or {}
    local last = lasts[queue][key] or number(call('ZSCORE', P .. 'turns:' .. queue, key))
    local turn = math.max(throttles.served(queue), last) + 1
    lasts[queue][key], job.fields.turn = turn, text(turn)
    work.put('turns:' .. queue, text(turn), key)
  end

  function throttles.served(queue)
    served[queue] = served[queue] or number(call('HGET', P .. 'paces', queue))
    return served[queue]
  end

  function throttles.serve(queue, turn)
    if turn <= throttles.served(queue) then return end
    served[queue] = turn
    write('HSET', P .. 'paces', queue, text(turn))
    write('ZREMRANGEBYSCORE', P .. 'turns:' .. queue, '-inf', text(turn))
  end

  -- ── resource slots: core/limits/resources.ts and core/operations/resources.ts, restated ──

  function throttles.units(words)
    local units = {}
    for unit, count in words:gmatch('([%w_]+)=(%d+)') do units[unit] = tonumber(count) end
    return units
  end

  function throttles.fits(needs, room)
    for unit, count in needs:gmatch('([%w_]+)=(%d+)') do
      if tonumber(count) > (room[unit] or 0) then return false end
    end
    return true
  end

  function throttles.spend(needs, room)
    for unit, count in needs:gmatch('([%w_]+)=(%d+)') do room[unit] = (room[unit] or 0) - count end
  end

  -- Where there are more than a claim looks at, others in every second.
  local function parkedNeeds(queue)
    local key, most = P .. 'needs:' .. queue, K.MOST_NEEDS
    local found = call('ZRANGE', key, 0, most)
    if #found <= most then return found end
    local from = math.floor(clock.now / K.LOOK_MS) % math.ceil(call('ZCARD', key) / most) * most
    return call('ZRANGE', key, from, from + most - 1)
  end

  local function needsAt(address)
    return address:match('^n:[^:]*:(.*)$')
  end

  -- The first of each kind of needs for which there is room come back into line. Answers whether any did.
  function throttles.letInFitting(queue, room, but)
    local isBack = false
    for _, address in ipairs(parkedNeeds(queue)) do
      if throttles.fits(needsAt(address), room) then
        isBack = throttles.unpark('park:' .. queue .. ':' .. address, 1, but) > 0 or isBack
      end
    end
    return isBack
  end

  -- Whether a worker keeps its room for a job that has waited long enough, and that it could do.
  function throttles.isKept(queue, whole, free)
    for _, address in ipairs(parkedNeeds(queue)) do
      local needs = needsAt(address)
      if throttles.fits(needs, whole) and not throttles.fits(needs, free) then
        local member = call('ZRANGE', P .. 'park:' .. queue .. ':' .. address, 0, 0)
        local first = record.bySeqs(record.seqsOf(member))[1]
        local isDue = first and first.place == 'k' and clock.now - record.readySince(first) >= K.PATIENCE_MS
        if isDue and not throttles.fullAmong(throttles.of(first, queues.settings(queue))) then return true end
      end
    end
    return false
  end

  -- Whether no worker that is there offers what a job needs.
  function throttles.isTooMuch(job, settings)
    local needs = job.fields.needs or settings.needs
    if needs == '' then return false end
    local workers = call('HGETALL', P .. 'workers')
    for i = 2, #workers, 2 do
      local worker = workers[i]
      local to = worker:match('^[^\31]*\31[^\31]*\31([^\31]*)')
      local offers = worker:match('offers\\?":\\?"([%w_=,]*)')
      if offers and tonumber(to) > clock.now and throttles.fits(needs, throttles.units(offers)) then return false end
    end
    return true
  end

  -- ── rates ──

  local SLIGHT = 0.01

  local function rateFitted(queue, rate)
    local at = number(call('HGET', P .. 'rates', queue))
    return math.min(at, clock.now + rate.ms), at
  end

  local function fullAt(queue, rate)
    return math.max(clock.now, (rateFitted(queue, rate)))
  end

  -- The queue's rate or the clock is another: the memory of starts reaches no further than one period of the rate.
  function throttles.fitRate(queue, rate)
    local fitted, at = rateFitted(queue, rate)
    if fitted ~= at then write('HSET', P .. 'rates', queue, text(fitted)) end
  end

  function throttles.fitRates()
    for _, queue in ipairs(call('HKEYS', P .. 'rates')) do
      local rate = queues.orNil(queues.settings(queue).rate)
      if rate then throttles.fitRate(queue, rate) end
    end
  end

  function throttles.rateRoom(queue, rate)
    return math.floor((clock.now + rate.ms - fullAt(queue, rate) + SLIGHT) / (rate.ms / rate.count))
  end

  function throttles.countStarts(queue, rate, started)
    write('HSET', P .. 'rates', queue, text(fullAt(queue, rate) + (started * rate.ms) / rate.count))
  end

  function throttles.rateNextAt(queue, rate)
    if throttles.rateRoom(queue, rate) > 0 then return nil end
    return math.max(clock.now + 1, math.ceil(fullAt(queue, rate) + rate.ms / rate.count - rate.ms - SLIGHT))
  end

  -- How many the queue's own limits let start now. All that was decided before must be written.
  function throttles.roomIn(queue, settings)
    local most, rate = queues.orNil(settings.maxRunning), queues.orNil(settings.rate)
    local room = most and most - call('ZCARD', P .. 'running:' .. queue) or math.huge
    return rate and math.min(room, throttles.rateRoom(queue, rate)) or room
  end

  -- ── settings that change ──

  local function words(value, shared)
    local settings = setmetatable(value and cjson.decode(value) or {}, { __index = shared and cjson.decode(shared) or {} })
    local keys, names = queues.orNil(settings.keys), settings.throttles or {}
    local by = keys and table.concat(keys.by, '\31') .. '\30' .. (queues.orNil(keys.limit) or '') or ''
    return by .. '\30' .. table.concat(names, '\31'), keys, queues.orNil(settings.rate)
  end

  local function settingsIn(key)
    local stored = call('HGET', P .. 'records:queue', key)
    return stored and stored:match('^[^\31]*\31[^\31]*\31[^\31]*\31(.*)$')
  end

  -- What a queue's jobs were parked for may no longer be so, and what is not limited is forgotten. `old` and `new` are
  -- what it says itself and what the global record says.
  function throttles.queueChanged(queue, old, new)
    local before, after, keys, rate = words(old[1], old[2]), words(new[1], new[2])
    if before ~= after then throttles.unpark('parked:' .. queue, math.huge) end
    if not keys and call('HEXISTS', P .. 'paces', queue) == 1 then write('HDEL', P .. 'paces', queue) end
    if not keys and call('EXISTS', P .. 'turns:' .. queue) == 1 then write('DEL', P .. 'turns:' .. queue) end
    if not rate and call('HEXISTS', P .. 'rates', queue) == 1 then write('HDEL', P .. 'rates', queue) end
    if rate then throttles.fitRate(queue, rate) end
  end

  -- Somebody set the maximum anew: as many go back as there is room.
  function throttles.maxChanged(name, max)
    local address = 't:' .. name
    local room = max and max - throttles.held(address) or math.huge
    for _, queue in ipairs(room > 0 and call('ZRANGE', P .. 'parks:' .. address, 0, -1) or {}) do
      if throttles.unpark('park:' .. queue .. ':' .. address, room) > 0 then work.emit('freed', queue, '', '') end
    end
  end

  -- Before a record of this kind is written or deleted; `old` and `new` are its values. What is let in too early, were
  -- the record not to follow, is parked again by the next claim.
  function throttles.recordChanges(kind, key, old, new)
    if kind == 'queue' and key == '*' then
      for _, queue in ipairs(census.all()) do
        local own = settingsIn(queue)
        throttles.queueChanged(queue, { own, old }, { own, new })
      end
    elseif kind == 'queue' then
      local shared = settingsIn('*')
      throttles.queueChanged(key, { old, shared }, { new, shared })
    else
      throttles.maxChanged(key, new and cjson.decode(new).max)
    end
    if #work.touched > 0 then work.flush() end
  end
end)

-- ── coalescing: core/limits/coalesce.ts and core/operations/coalescing.ts, restated ─────────────────────────────────────────────

folds = later(function(folds)
  local DOING = { completed = true, advanced = true, forwarded = true }

  -- The key by which its equals find a job while it stands in line, and the index of that key. One of which there is no
  -- news, since it is only parked or has come to its time, keeps what it has.
  function folds.settle(job, isInLine, coalesce)
    local key = coalesce and throttles.keyIn(job, coalesce.by) or nil
    if isInLine and not job.isNews then key = job.fields.equal end
    local index = key and 'equals:' .. job.queue .. ':' .. key
    job.fields.equal = key
    if index then work.put(index, text(record.runAt(job)), work.hex(job)) end
    if job.oldEqual and job.oldEqual ~= index then work.drop(job.oldEqual, work.hex(job)) end
  end

  local function letGo(job)
    local unique = keys.of(job)
    if not unique or unique.ends ~= 'started' then return end
    local address = keys.address(unique, job.queue)
    keys.note(address)
    keys.release(address, job.id)
  end

  local function isEqual(job, leader, coalesce, key)
    return job and job ~= leader and not job.isDeleted and job.queue == leader.queue and job.place ~= 'b'
      and STATE[job.place] == 'waiting' and record.runAt(job) <= clock.now and throttles.keyIn(job, coalesce.by) == key
  end

  -- Those that are equal to a job which has just been started are folded into it. Returns how many.
  function folds.gather(leader, coalesce)
    local key, count = throttles.keyIn(leader, coalesce.by), 0
    if not key then return 0 end
    local index = P .. 'equals:' .. leader.queue .. ':' .. key
    local members = call('ZRANGEBYSCORE', index, '-inf', clock.nowText, 'LIMIT', 0, K.MAX_FOLDED + 1)
    for _, job in ipairs(record.bySeqs(record.seqsOf(members))) do
      if count < K.MAX_FOLDED and isEqual(job, leader, coalesce, key) then
        work.touch(job)
        throttles.passOn(job)
        job.fields.into, count = leader.id, count + 1
        life.wait(job)
        life.apply(job, 'folded', { note = leader.id })
        letGo(job)
      end
    end
    record.setNumber(leader, 'folded', count)
    return count
  end

  local function doneWith(job, leader, event)
    life.ended(job, 'd')
    job.fields.into, job.fields.forwardedTo = leader.id, leader.fields.forwardedTo
    local isApart = leader.place == 'd' and (leader.fields.apart or ''):find('r', 1, true)
    record.setText(job, 'r', leader.fields.result, isApart and work.bigTexts and work.bigTexts['r' .. leader.id] or nil)
    life.setFailure(job, nil, nil, nil)
    life.apply(job, event == 'forwarded' and event or 'completed', { note = 'with job ' .. leader.id })
  end

  -- The attempt of a job has ended: what was folded into it is done with it, or comes back. Those that others wait for
  -- are noted in the job, for whoever tells them.
  function folds.follow(leader, event)
    leader.hadFolded, leader.followers = nil, {}
    local members = call('ZRANGE', P .. 'folds:' .. leader.id, 0, -1)
    for _, job in ipairs(record.bySeqs(record.seqsOf(members))) do
      if job and not job.isDeleted and job.place == 'b' and job.fields.into == leader.id then
        local hasDependents = job.fields.dependents
        work.touch(job)
        if DOING[event] then
          doneWith(job, leader, event)
          if hasDependents then table.insert(leader.followers, { job = job, wasBad = false }) end
        else
          job.fields.into = nil
          life.wait(job)
          life.apply(job, 'unfolded', { note = leader.id })
          if (job.fields.unique or ''):find('^%S+ started ') then keys.take(job) end
        end
      end
    end
  end
end)

-- ── hooks: core/webhooks/webhook.ts and core/operations/outbox.ts, restated ─────────────────────────────────────────────────────────

outbox = later(function(outbox)
  local EVENTS = { d = 'done', x = 'failed', c = 'cancelled' }
  local nibbles

  -- CRC-32, as the client works it out of data that it adds.
  local function checksum(words)
    local bxor, band, rshift, crc = bit.bxor, bit.band, bit.rshift, bit.bnot(0)
    if not nibbles then
      nibbles = {}
      for i = 0, 15 do
        local word = i
        for _ = 1, 4 do word = bxor(rshift(word, 1), band(0xedb88320, -band(word, 1))) end
        nibbles[i] = word
      end
    end
    for i = 1, #words do
      local byte = words:byte(i)
      crc = bxor(rshift(crc, 4), nibbles[band(bxor(crc, byte), 15)])
      crc = bxor(rshift(crc, 4), nibbles[band(bxor(crc, rshift(byte, 4)), 15)])
    end
    return bit.tohex(bit.bnot(crc))
  end

  -- Its own, then its queue's: who is called, and of what.
  local function hooksOf(job)
    local found = {}
    if job.queue == 'hooks' then return found end
    for words in (job.fields.hooks and job.fields.hooks .. '\30' or ''):gmatch('([^\30]*)\30') do
      local on, every, secret, format, url = words:match('^(%S+) (%S+) (%S+) (%S+) (%S+)$')
      found[#found + 1] = { on = on, every = tonumber(every), secret = secret, format = format, url = url }
    end
    local hooked = clock.hooked
    if not hooked or not (hooked:find(' ' .. job.queue .. ' ', 1, true) or hooked:find(' * ', 1, true)) then return found end
    for _, hook in ipairs(queues.settings(job.queue).hooks) do
      found[#found + 1] = {
        on = table.concat(hook.on, ','), every = hook.every or K.HOOK_EVERY, secret = hook.secret or '-',
        format = hook.format or '-', url = hook.url,
      }
    end
    return found
  end

  local function wants(hook, event)
    return (',' .. hook.on .. ','):find(',' .. event .. ',', 1, true)
  end

  local function orderText(job, hook, event, percent)
    return table.concat({
      '{"event":"', event, '","job":"', job.id, '","queue":"', job.queue, '","attempt":', job.fields.attempt or '0',
      ',"at":', clock.nowText, percent and ',"percent":' .. text(percent) or '', ',"url":"', hook.url, '"',
      hook.secret ~= '-' and ',"secret":"' .. hook.secret .. '"' or '',
      hook.format ~= '-' and ',"format":"' .. hook.format .. '"' or '', '}',
    })
  end

  -- The job that holds a key, and may be waited for.
  function outbox.holder(address)
    local id = keys.holder(address)
    if not id then return nil end
    record.load({ id })
    local job = record.jobs[id]
    if job and not job.isDeleted and not edges.isEnded(job) then return job end
  end

  -- From whoever holds it.
  function outbox.takeKey(address, id)
    keys.note(address)
    keys.set(address, '- ' .. id)
  end

  -- ── the order of calls: core/operations/webhook-order.ts ──

  local function isInLine(other, call)
    return other.queue == call.queue and other.fields.unique and not edges.isEnded(other)
      and keys.address(keys.of(other), other.queue) == keys.address(keys.of(call), call.queue)
  end

  -- The call that this call waits for in its line, if there is one.
  function outbox.inFront(call)
    if not call.fields.unique or select(2, edges.numbers(call)) == 0 then return nil end
    local hex = work.hex(call)
    for _, parent in ipairs(record.bySeqs(edges.members('up:' .. hex))) do
      local isThere = parent and not parent.isDeleted and isInLine(parent, call)
      if isThere and edges.has('wait:' .. work.hex(parent), hex) then return parent end
    end
  end

  -- Hands on the place of a call that was cancelled or deleted. `front`: the call that it waited for before that.
  function outbox.handPlaceOn(call, front)
    for _, child in ipairs(call.fields.dependents and edges.openChildren(call) or {}) do
      if isInLine(child, call) then
        work.touch(child)
        edges.set('wait:' .. work.hex(call), work.hex(child), false)
        edges.count(child, 0, -1, 0)
        if not call.isDeleted then edges.countDependents(call, -1) end
        edges.waitFor(child, edges.join(child, { front }))
      end
    end
    local address = keys.address(keys.of(call), call.queue)
    if not keys.holder(address) then outbox.takeKey(address, front.id) end
  end

  local function add(job, hook, id, order)
    local settings, parent = queues.settings('hooks'), nil
    work.births = work.births or { first = clock.seq + 1, ids = {}, records = {}, fifo = {}, queues = {} }
    clock.seq = clock.seq + 1
    table.insert(work.births.ids, id)
    local fields = {
      name = job.id, policy = '{"onDependencyFailed":"run"}', onDependencyFailed = 'run',
      unique = 'queue ended 0 ' .. job.id .. ' ' .. hook.url,
    }
    local data, new = '\31:' .. checksum(order) .. order, nil
    new = { id = id, seq = text(clock.seq), createdAt = clock.nowText, queue = 'hooks', fields = fields, rows = '', data = data }
    record.setNumber(new, 'priority', settings.priority)
    local address = keys.address(keys.of(new), 'hooks')
    parent = outbox.holder(address)
    if parent then edges.join(new, { parent }, true) end
    if queues.orNil(settings.keys) then throttles.enter(new) end
    life.wait(new)
    record.jobs[id], new.isTouched, new.isNews = new, true, true
    work.touched[#work.touched + 1] = new
    outbox.takeKey(address, id)
    rare.register('hooks')
    work.emit('added', 'hooks', 'waiting', id)
    if parent then edges.waitFor(new, { parent }) end
  end

  local function isTaken(id)
    record.load({ id })
    return record.jobs[id] and true or false
  end

  local function shortId(job)
    return #job.id <= 80 and job.id or job.id:sub(1, 63) .. '~' .. job.seq
  end

  -- Two hooks may want to hear of one event, and a job may be cancelled twice in one millisecond.
  local function freeId(job, event)
    local id = 'hook~' .. event .. '~' .. text(math.floor(clock.now)) .. '~' .. shortId(job)
    local free, count = id, 1
    while isTaken(free) do
      count = count + 1
      free = id .. '~' .. text(count)
    end
    return free
  end

  -- After a change of a job. An ended job whose tags are changed has not ended again.
  function outbox.tell(job, event)
    local said = event == 'claimed' and 'start' or event ~= 'changed' and EVENTS[job.place]
    for _, hook in ipairs(said and hooksOf(job) or {}) do
      if wants(hook, said) then add(job, hook, freeId(job, said), orderText(job, hook, said)) end
    end
  end

  -- After a heartbeat: each step of an attempt is told once. `before` and `after` are percents.
  function outbox.tellProgress(job, before, after)
    for place, hook in ipairs(hooksOf(job)) do
      local from, to = math.floor((before or 0) / hook.every), math.floor((after or 0) / hook.every)
      if to > from and wants(hook, 'progress') then
        local step = to * hook.every
        local id = ('hook~progress%d~%s.%d~'):format(step, job.fields.attempt, place - 1) .. shortId(job)
        if not isTaken(id) then add(job, hook, id, orderText(job, hook, 'progress', step)) end
      end
    end
  end

  -- The queues that have hooks stand by their names where every call looks, so that the others cost nothing. A name too many
  -- does no harm, one too few would lose a call: so it is written before the settings are, and taken away after them.
  function outbox.isHooked(kind, value)
    return kind == 'queue' and value:find('"hooks":[{', 1, true) ~= nil
  end

  function outbox.mark(queue, isHooked)
    local names = call('HGET', P, 'hooks') or ''
    if names == '' then names = ' ' end
    local at, to = names:find(' ' .. queue .. ' ', 1, true)
    if (at ~= nil) == isHooked then return end
    names = isHooked and names .. queue .. ' ' or names:sub(1, at) .. names:sub(to + 1)
    write('HSET', P, 'hooks', names)
  end
end)

-- ── a step back of the clock: core/operations/clock-step.ts, restated ───────────────────────────────────────────────────

steps = later(function(steps)
  -- A delay that was counted from a time which has not come.
  local function aheadDelay(job)
    local delayMs = tonumber(job.fields.delayMs) or (not job.fields.runAt and 0)
    if delayMs and record.runAt(job) > clock.now + delayMs then return delayMs end
  end

  local function rebase(job, from, delayMs)
    record.setRunAt(job, from + delayMs)
    job.fields.delayMs = text(delayMs)
  end

  -- Running leases start again, and no rate is used up beyond one period.
  function steps.begin()
    for _, job in ipairs(census.running()) do
      work.touch(job)
      local lease, delayMs = record.lease(job), aheadDelay(job)
      lease.to = clock.now + lease.ms
      record.renewLease(job, lease)
      if delayMs then rebase(job, clock.now, delayMs) end
    end
    throttles.fitRates()
    clock.stepFrom, clock.stepAfter = clock.now, -1
  end

  -- One that stood among the ready ones may not be due; and who stood for others there may not be, so that all that are
  -- parked are looked at anew.
  local function follow(job)
    local place, runAt, delayMs = job.place, record.runAt(job), aheadDelay(job)
    local isMisplaced = place == 'k' or (place == 'w' and runAt > clock.now and runAt <= clock.high)
    if not delayMs and not isMisplaced then return end
    work.touch(job)
    if delayMs then rebase(job, clock.stepFrom, delayMs) end
    if place ~= 'b' then job.place = 'w' end
  end

  -- Jobs by insertion, some pieces of them in each call. When all were seen none stands ready that is not due.
  function steps.followSome()
    local ids, most = {}, K.REBASED_PIECES
    local pieces = call('ZRANGEBYSCORE', P .. 's', '(' .. text(clock.stepAfter), '+inf', 'LIMIT', 0, most)
    for i = 1, #pieces do
      local found = call('HGETALL', P .. 's:' .. pieces[i])
      for k = 2, #found, 2 do ids[#ids + 1] = found[k] end
    end
    record.load(ids)
    for i = 1, #ids do
      local job = record.jobs[ids[i]]
      if job and STATE[job.place] == 'waiting' then follow(job) end
    end
    if #pieces < most then
      clock.stepFrom, clock.high, clock.isBehind, clock.isLowered = nil, clock.now, false, true
    else
      clock.stepAfter = tonumber(pieces[most])
    end
    work.flush()
  end
end)

-- ── mending what an operation left half done ────────────────────────────────────────────────────────────────────────

-- Hardly ever runs, so it may be slow. Who was touched goes where its record says; what was to be left is left.
local function mend()
  local living, rightful = {}, {}

  local function enters(key, score, member)
    rightful[key .. '\31' .. member] = true
    work.put(key, score, member)
  end

  local function seqsIn(words)
    local seqs = {}
    for from, to in words:gmatch('(%d+)%-?(%d*)') do
      for seq = tonumber(from), tonumber(to) or tonumber(from) do seqs[#seqs + 1] = seq end
    end
    return seqs
  end

  local function mendJob(job)
    local key, member, score = work.place(job)
    local side, hex = work.side(job), work.hex(job)
    if key then enters(key, score, member) end
    if side then rare.settleSide(job, side) end
    if side then rightful[side .. '\31' .. (job.place == 'k' and member or hex)] = true end
    for address in (job.fields.slots and job.fields.slots .. '\30' or ''):gmatch('([^\30]*)\30') do
      enters('slots:' .. address, 0, hex)
    end
    if job.fields.equal then
      enters('equals:' .. job.queue .. ':' .. job.fields.equal, text(record.runAt(job)), hex)
    end
    for tagKey in pairs(rare.tagKeys(job.fields.tags)) do
      enters(tagKey, tonumber(job.seq), hex)
      work.put('tags', 0, tagKey:sub(5))
    end
    for letter in ('drvt'):gmatch('.') do
      local isApart = (job.fields.apart or ''):find(letter, 1, true)
      if not isApart then write('HDEL', P .. 'big', letter .. job.id) end
    end
    if job.place == 'f' and not call('LPOS', P .. 'fifo:' .. job.queue, job.seq) then
      write('RPUSH', P .. 'fifo:' .. job.queue, job.seq)
    end
    local unique = keys.of(job)
    if not unique then return end
    local isFolded = job.place == 'b' and job.fields.into and unique.ends == 'started'
    if isFolded or keys.isOver(unique, STATE[job.place]) then
      keys.release(keys.address(unique, job.queue), job.id)
    elseif job.place ~= 'p' then
      keys.take(job)
      -- The last of those in line holds the key.
      local holder = job.queue == 'hooks' and outbox.holder(keys.address(unique, job.queue))
      if holder and tonumber(holder.seq) < tonumber(job.seq) then outbox.takeKey(keys.address(unique, job.queue), job.id) end
    end
  end

  local function forget(seq, id)
    edges.forget(('%013x'):format(seq))
    write('HDEL', P .. 's:' .. math.floor(seq / record.PIECE), seq % record.PIECE)
    if not record.jobs[id] then write('HDEL', P .. 'big', 'd' .. id, 'r' .. id, 'v' .. id, 't' .. id) end
  end

  local function mendFifo(queue, seq)
    local job = living[tonumber(seq)]
    if not (job and job.place == 'f' and job.queue == queue) then write('LREM', P .. 'fifo:' .. queue, 1, seq) end
    write('SREM', P .. 'gone:' .. queue, seq)
  end

  local function mendKey(address)
    local entry = keys.entry(address)
    local id = entry and entry:match('^%S+ (.*)$')
    if not id then return end
    record.load({ id })
    local job = record.jobs[id]
    local unique = job and keys.of(job)
    if not (unique and keys.address(unique, job.queue) == address) then keys.set(address, false) end
  end

  local function mendLine(key, members)
    local queue = key:match('^fifo:(.*)$')
    for member in members:gmatch('\31([^\31]*)') do
      if queue then
        mendFifo(queue, member)
      elseif key == 'keys' then
        mendKey(member)
      elseif not key:find('^edge:') and not rightful[key .. '\31' .. member] then
        work.drop(key, member)
        work.groups = work.groups or {}
        table.insert(work.groups, key)
      end
    end
  end

  local head, lines = clock.open:match('^([^\30]*)\30?(.*)$')
  local seqs = seqsIn(head)
  local found, ids = record.bySeqs(seqs), record.idsOf(seqs)
  edges.mend(lines, found)
  for i = 1, #seqs do
    if found[i] then
      living[seqs[i]] = found[i]
      mendJob(found[i])
    elseif ids[i] then
      forget(seqs[i], ids[i])
    end
  end
  for key, members in lines:gmatch('([^\30\31]+)([^\30]*)') do mendLine(key, members) end
  if work.keys then keys.write(work.keys) end
  work.writeIndexes()
  write('HSET', P, 'open', '')
  work.reset()
end

-- ── how operations begin and end ────────────────────────────────────────────────────────────────────────────────

-- A changing operation begins with the time, what an earlier one left undone, and what a step of the clock left behind.
local function begin()
  if clock.hasBegun then return end
  clock.hasBegun = true
  clock.look()
  if clock.open and clock.open ~= '' then mend() end
  if clock.mode == 'caller' then return end
  if clock.seen - clock.now > K.CLAMP_MS then steps.begin() end
  if clock.stepFrom and not clock.closed then steps.followSome() end
  if #work.touched > 0 then work.flush() end
end

-- One request of several: its first word, what it says, and where the next one begins. Texts that stand apart follow it.
local function request(at)
  local words = args[at]
  local kind = words:match('^[^\31]*')
  local said = record.fields(words)
  at = at + 1
  if said.apart then
    said.texts = {}
    for letter in said.apart:gmatch('.') do
      said.texts[letter] = args[at]
      at = at + 1
    end
  end
  return kind, said, at
end

-- Each request of a list: id, then its words. `each` answers a word or a refusal, which begins with `!`.
local function forEach(each)
  local ids, kinds, saids, at = {}, {}, {}, 2
  while args[at] do
    local n = #ids + 1
    ids[n] = args[at]
    kinds[n], saids[n], at = request(at + 1)
  end
  record.load(ids)
  local answers, jobs = {}, record.jobs
  for i = 1, #ids do answers[i] = each(jobs[ids[i]], saids[i], kinds[i]) end
  work.finish()
  return table.concat(answers, '\31')
end

-- A store that moves house does not do this at all: the refusal of each request, or nothing in an ordinary store.
local function barred()
  begin()
  if not clock.closed then return nil end
  local answers, at = {}, 2
  while args[at] do
    answers[#answers + 1] = '!store-moving ' .. clock.closed
    at = select(3, request(at + 1))
  end
  return table.concat(answers, '\31')
end

-- The job a caller means, or why it cannot be meant.
local function target(job, said)
  if not job then return nil, '!not-found' end
  if said.attempt and number(job.fields.attempt) ~= tonumber(said.attempt) then return nil, '!moved-on' end
  return job
end

-- Two operations in one call, at one moment. ARGV: clock, how many arguments are the first one's, those, then the
-- second one's. Returns what the second does, with what the first does before it.
local function inTurn(first, second)
  local all, count = args, tonumber(args[2])
  args = { all[1], unpack(all, 3, 2 + count) }
  work.isFollowed = true
  local said = first()
  work.isFollowed = false
  args = { all[1], unpack(all, 3 + count) }
  local answer = second()
  table.insert(answer, 1, said)
  return answer
end

