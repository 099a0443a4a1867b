-- prelude: put before every operation. The record of a job, the clock, and the unit of work that an operation is.
--
-- KEYS[1] is {namespace}; every other key begins with it, so that a namespace is one slot of a cluster:
--   {ns}            hash   schema, seen, gapFrom, gapTo, high, seq, token, version, and `open` (see flush)
--   j               hash   id → record; @worker → that worker's last claim
--   big             hash   texts too long for a record, by letter and id
--   s:<n>, s        hash   seq → id in pieces of 64, and the zset of those pieces: every job by insertion
--   queues          zset   every queue that has or had a job, by first appearance
--   fifo:<queue>    list   seqs of plain jobs, in the order they are claimed; gone:<queue>: those that left otherwise
--   ready:, later:  zset   the other waiting jobs: by priority (returned work at -inf), and by time
--   draft:, running:, done:, failed:, cancelled:, relayed:, group:<queue>:<group>, groups:, tag:<tag>   zset
--   keys, periods   hash   unique key → until and holder; zset of those that end by time
--   workers, records:<kind>, names:<kind>, expiring
--
-- A record is text: <place><seq> <createdAt> <queue> { \31 name=value } { \31+row } \31:<checksum><data>. Only what is
-- not the default stands in it, and nobody here looks into data, result, checkpoint, detail or policy.
--
-- Invariant: a record is the truth, every index can be made again from it. Invariant: an operation reads and
-- decides first; then flush() writes, and whatever stops it half-way is mended by the next operation (heal).

local P = KEYS[1]
local call = redis.call
local find, match, gmatch, sub, format, concat = string.find, string.match, string.gmatch, string.sub, string.format, table.concat
local floor, max, min = math.floor, math.max, math.min

local STEP = 4000 -- arguments of one command: Lua's stack holds 8,000
local PIECE = 64 -- seqs in one piece of the index by insertion
local STATE = { f = 'waiting', w = 'waiting', p = 'draft', r = 'running', d = 'done', x = 'failed', c = 'cancelled' }
local TEXT = { r = 'result', v = 'checkpoint', t = 'detail' } -- may stand in `big`, as may d, the data

-- Every write goes through here, so that a test can stop a script at any of them.
local function write(...)
  return call(...)
end

local function writeMany(command, key, list)
  for from = 1, #list, STEP do
    write(command, P .. key, unpack(list, from, min(from + STEP - 1, #list)))
  end
end

local function readMany(command, key, list)
  if #list == 0 then return {} end
  if #list <= STEP then return call(command, P .. key, unpack(list)) end
  local all = {}
  for from = 1, #list, STEP do
    local some = call(command, P .. key, unpack(list, from, min(from + STEP - 1, #list)))
    for i = 1, #some do all[#all + 1] = some[i] end
  end
  return all
end

local function text(n)
  if n == floor(n) and n > -1e15 and n < 1e15 then return format('%.0f', n) end
  return format('%.17g', n)
end

local function number(value)
  return tonumber(value) or 0
end

-- ── settings of queues ──────────────────────────────────────────────────────────────────────────────────────────

local knownSettings = {}

local function settingsOf(queue)
  local known = knownSettings[queue]
  if known then return known end
  local record = call('HGET', P .. 'records:queue', queue)
  known = DEFAULTS
  if record then
    known = cjson.decode(match(record, '^[^\31]*\31[^\31]*\31[^\31]*\31(.*)$'))
    setmetatable(known, { __index = DEFAULTS })
  end
  knownSettings[queue] = known
  return known
end

local function orNil(value)
  if value ~= cjson.null then return value end
end

-- ── the clock: core/clock.ts ────────────────────────────────────────────────────────────────────────────────────

local mode, given = match(ARGV[1] or '', '^(%a*) ?(.*)$')
local now, gapFrom, gapTo, high, isBehind
local clock, lastSeq, lastToken, open

local function readTime()
  if mode ~= 'store' and given ~= '' then return tonumber(given) end
  local time = call('TIME')
  return time[1] * 1000 + floor(time[2] / 1000)
end

-- What a look needs: the time, and whether it lies before one that placed jobs among the ready ones.
local function look()
  local meta = call('HMGET', P, 'seen', 'gapFrom', 'gapTo', 'high', 'seq', 'token', 'open')
  local seen, reading = number(meta[1]), readTime()
  clock = { seen = seen, gapFrom = number(meta[2]), gapTo = number(meta[3]), high = number(meta[4]) }
  lastSeq, lastToken, open = number(meta[5]), number(meta[6]), meta[7]
  now, gapFrom, gapTo, high = reading, 0, 0, max(clock.high, seen)
  if mode ~= 'caller' and seen - reading <= CLAMP_MS then
    now = max(reading, seen)
    if seen > 0 and now - seen > GAP_MS then gapFrom, gapTo = seen, now else gapFrom, gapTo = clock.gapFrom, clock.gapTo end
  end
  isBehind = now < high
end

-- The fields of the clock that this call changes.
local function clockFields()
  local fields = {}
  if mode == 'caller' then
    if now > high then fields = { 'high', text(now) } end
  else
    if now ~= clock.seen then fields = { 'seen', text(now) } end
    if gapFrom ~= clock.gapFrom or gapTo ~= clock.gapTo then
      fields[#fields + 1] = 'gapFrom'; fields[#fields + 1] = text(gapFrom)
      fields[#fields + 1] = 'gapTo'; fields[#fields + 1] = text(gapTo)
    end
    if isBehind and high ~= clock.high then fields[#fields + 1] = 'high'; fields[#fields + 1] = text(high) end
    clock = { seen = now, gapFrom = gapFrom, gapTo = gapTo, high = isBehind and high or clock.high }
  end
  return fields
end

-- Whether a record of the bookkeeping (records-*) has not expired: version \31 expiry \31 time of change \31 value.
local function isLiving(record)
  local expiresAt = tonumber(match(record, '^[^\31]*\31([^\31]*)'))
  return not expiresAt or expiresAt > now
end

-- ── records ─────────────────────────────────────────────────────────────────────────────────────────────────────

-- The words of a request: an optional first word, then \31 name=value for each thing said.
local function fieldsOf(words)
  local fields = {}
  for name, value in gmatch(words, '\31(%a+)=([^\31]*)') do fields[name] = value end
  return fields
end

local function parse(id, record)
  local rowsAt = find(record, '\31+', 1, true)
  local dataAt = find(record, '\31:', rowsAt or 1, true)
  local headEnd = (rowsAt or dataAt) - 1
  local place, seq, createdAt, queue, stop = match(record, '^(.)(%S+) (%S+) ([^\31]+)()')
  local job = { id = id, place = place, seq = seq, createdAt = createdAt, queue = queue, data = sub(record, dataAt) }
  job.fields = stop <= headEnd and fieldsOf(sub(record, stop, headEnd)) or {}
  job.rows = rowsAt and sub(record, rowsAt, dataAt - 1) or ''
  return job
end

local function recordOf(job)
  local parts, n = { job.place, job.seq, ' ', job.createdAt, ' ', job.queue }, 6
  for name, value in pairs(job.fields) do
    parts[n + 1], parts[n + 2], parts[n + 3], parts[n + 4] = '\31', name, '=', value
    n = n + 4
  end
  parts[n + 1], parts[n + 2] = job.rows, job.data
  return concat(parts)
end

local jobs = {} -- id → job as it is and will be, or false

local function load(ids)
  local missing, n = {}, 0
  for i = 1, #ids do
    local id = ids[i]
    if jobs[id] == nil then
      n = n + 1
      missing[n], jobs[id] = id, false
    end
  end
  local records = readMany('HMGET', 'j', missing)
  for i = 1, n do
    if records[i] then jobs[missing[i]] = parse(missing[i], records[i]) end
  end
end

-- The ids of seqs, false where there is none.
local function idsOf(seqs)
  local ids, from, n = {}, 1, #seqs
  while from <= n do
    local piece, fields, to = floor(seqs[from] / PIECE), {}, from
    repeat
      fields[to - from + 1] = seqs[to] % PIECE
      to = to + 1
    until to > n or floor(seqs[to] / PIECE) ~= piece
    local found = call('HMGET', P .. 's:' .. piece, unpack(fields))
    for i = from, to - 1 do ids[i] = found[i - from + 1] end
    from = to
  end
  return ids
end

-- The jobs of seqs, in their order; false for what is only a leftover.
local function jobsOf(seqs)
  local ids, known, found = idsOf(seqs), {}, {}
  for i = 1, #seqs do
    if ids[i] then known[#known + 1] = ids[i] end
  end
  load(known)
  for i = 1, #seqs do
    local job = ids[i] and jobs[ids[i]]
    found[i] = job and tonumber(job.seq) == tonumber(seqs[i]) and job or false
  end
  return found
end

-- Members of indexes end in 13 hexadecimal digits of seq; those of a fifo are the bare seq.
local function seqsOf(members)
  local seqs = {}
  for i = 1, #members do
    local member = members[i]
    seqs[i] = #member >= 13 and tonumber(sub(member, -13), 16) or tonumber(member)
  end
  return seqs
end

local function runAtOf(job)
  return tonumber(job.fields.runAt or job.createdAt)
end

local function setRunAt(job, at)
  local value = text(at)
  job.fields.runAt = value ~= job.createdAt and value or nil
end

-- Sets a counter or a time; 0 is the default of all of them.
local function setNumber(job, name, value)
  job.fields[name] = value ~= 0 and text(value) or nil
end

local function leaseOf(job)
  if job.lease or not job.fields.lease then return job.lease end
  local token, ms, to, claimedAt, startedAt, pid, cancelAskedAt, pauseAskedAt, worker =
    match(job.fields.lease, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
  job.lease = {
    token = token, ms = tonumber(ms), to = tonumber(to), claimedAt = claimedAt, startedAt = startedAt, pid = pid,
    cancelAskedAt = cancelAskedAt, pauseAskedAt = pauseAskedAt, worker = worker,
  }
  return job.lease
end

-- `-` stands for null. The worker comes last: it may contain spaces.
local function setLease(job, lease)
  job.lease = lease
  job.fields.lease = lease and concat({
    lease.token, text(lease.ms), text(lease.to), lease.claimedAt, lease.startedAt, lease.pid, lease.cancelAskedAt,
    lease.pauseAskedAt, lease.worker,
  }, ' ') or nil
end

local function holds(job, token)
  return job and job.place == 'r' and leaseOf(job).token == token
end

-- ── the unit of work ────────────────────────────────────────────────────────────────────────────────────────────

local touched = {} -- jobs that will be written, in order
local index, indexKeys = {}, {} -- key → member → score, or false to leave it; the keys in order
local births = { ids = {}, records = {}, fifo = {}, queues = {} } -- in the order of their seqs
local firstSeq = nil -- of those born in this call
local bigTexts = {} -- letter and id → text, or false to forget it
local newQueues = {}
local claims = {} -- more fields of `j` that are written together with the records
local popped = {} -- queue → how many of its fifo were taken; dropped[queue]: leftovers among them
local dropped = {}
local left = {} -- queue → seqs that leave its fifo from the middle
local addresses = {} -- unique keys of what was touched
local events, group = {}, nil

local function put(key, member, score)
  local changes = index[key]
  if not changes then
    changes = {}
    index[key] = changes
    indexKeys[#indexKeys + 1] = key
  end
  changes[member] = score
end

local function hex(job)
  return format('%013x', job.seq)
end

-- Ready jobs of one priority stand by time, then insertion; returned work by when it came back.
local function readyMember(job)
  local time = tonumber(job.fields.returnedAt) or runAtOf(job)
  return format('%011x%013x', max(0, min(time, 17592186044415)), job.seq)
end

local function putTags(job, score)
  if not job.fields.tags then return end
  for tag in gmatch(job.fields.tags .. '\30', '([^\30]*)\30') do put('tag:' .. tag, hex(job), score) end
end

local function putEnded(job, state, score)
  put(state .. ':' .. job.queue, hex(job), score)
  local fields = job.fields
  if state == 'failed' then
    put('group:' .. job.queue .. ':' .. fields.group, hex(job), score)
    if score then put('groups:' .. job.queue, fields.group, 0) end
  elseif state == 'done' and fields.forwardedTo then
    put('relayed:' .. job.queue, hex(job), score)
  end
end

local function leave(job)
  local place = job.place
  if place == 'f' then
    job.wasIn = job.queue
  elseif place == 'w' then
    put('ready:' .. job.queue, readyMember(job), false)
    put('later:' .. job.queue, hex(job), false)
  else
    putEnded(job, STATE[place], false)
  end
end

local function enter(job)
  local place, fields = job.place, job.fields
  if place == 'w' then
    local runAt = runAtOf(job)
    if runAt > now then return put('later:' .. job.queue, hex(job), text(runAt)) end
    return put('ready:' .. job.queue, readyMember(job), fields.returnedAt and '-inf' or fields.priority or '0')
  end
  if place == 'r' then return put('running:' .. job.queue, hex(job), text(leaseOf(job).to)) end
  if place == 'p' then return put('draft:' .. job.queue, hex(job), job.createdAt) end
  if place ~= 'f' then putEnded(job, STATE[place], fields.endedAt) end
end

-- Before a job is changed: what it was decides which indexes it leaves.
local function touch(job)
  if job.isTouched then return end
  job.isTouched = true
  touched[#touched + 1] = job
  leave(job)
end

local function register(queue)
  if newQueues[queue] or call('ZSCORE', P .. 'queues', queue) then return end
  newQueues[queue] = true
  newQueues[#newQueues + 1] = queue
end

local function goTo(job, queue)
  if job.queue == queue then return end
  job.queue = queue
  register(queue)
end

-- A text that may be long: said by value, or standing in `big` when the request says so.
local function setText(job, letter, value, apart)
  local fields, address = job.fields, letter .. job.id
  local letters = fields.apart or ''
  local wasApart = find(letters, letter, 1, true)
  if apart then
    bigTexts[address] = apart
    if not wasApart then letters = letters .. letter end
  elseif wasApart then
    bigTexts[address] = false
    letters = string.gsub(letters, letter, '')
  end
  fields.apart = letters ~= '' and letters or nil
  if letter == 'd' then job.data = '\31:' .. value else fields[TEXT[letter]] = value end
end

-- A job in an answer: id, record, and its texts that stand apart.
local function show(answer, job)
  answer[#answer + 1] = job.id
  answer[#answer + 1] = job.record or recordOf(job)
  for letter in gmatch(job.fields.apart or '', '.') do
    local address = letter .. job.id
    answer[#answer + 1] = bigTexts[address] or call('HGET', P .. 'big', address) or ''
  end
end

-- One request of several: its first word, what it says, and where the next one begins. Texts that stand apart follow it.
local function request(at)
  local words = ARGV[at]
  local kind = match(words, '^[^\31]*')
  if #kind == #words then return kind, {}, at + 1 end
  local said = fieldsOf(words)
  at = at + 1
  if said.apart then
    local texts = {}
    for letter in gmatch(said.apart, '.') do
      texts[letter] = ARGV[at]
      at = at + 1
    end
    said.texts = texts
  end
  return kind, said, at
end

local function sayText(job, letter, value, said)
  setText(job, letter, value, said.texts and said.texts[letter])
end

local function emit(event, queue, state, id)
  if not group or group[1] ~= event or group[2] ~= state or group[3] ~= queue then
    group = { event, state, queue }
    events[#events + 1] = group
  end
  group[#group + 1] = id
end

local function publish()
  if #events == 0 then return end
  local lines = {}
  for i = 1, #events do lines[i] = concat(events[i], '\31') end
  call('PUBLISH', P .. 'events', concat(lines, '\30'))
end

-- ── unique keys ─────────────────────────────────────────────────────────────────────────────────────────────────

local keys, keyWrites = {}, {} -- address → "<until> <id>" or false

local function uniqueOf(job)
  if not job.fields.unique then return nil end
  local scope, ends, periodMs, key = match(job.fields.unique, '^(%S+) (%S+) (%S+) (.*)$')
  return { scope = scope, ends = ends, periodMs = tonumber(periodMs), key = key }
end

local function keyAddress(unique, queue)
  return unique.scope == 'store' and 's:' .. unique.key or 'q:' .. queue .. ':' .. unique.key
end

local function keyEntry(address)
  if keys[address] == nil then keys[address] = call('HGET', P .. 'keys', address) end
  return keys[address]
end

local function keyHolder(address)
  local entry = keyEntry(address)
  if not entry then return nil end
  local to, id = match(entry, '^(%S+) (.*)$')
  if to == '-' or tonumber(to) > now then return id end
end

local function setKey(address, entry)
  keys[address], keyWrites[address] = entry, entry
end

local function releaseKey(address, id)
  local entry = keyEntry(address)
  if entry and match(entry, '^%S+ (.*)$') == id then setKey(address, false) end
end

-- Takes the key if it is free. A period is counted from the first taking.
local function takeKey(job)
  local unique = uniqueOf(job)
  if not unique then return end
  local address = keyAddress(unique, job.queue)
  if keyHolder(address) then return end
  setKey(address, (unique.ends == 'period' and text(now + unique.periodMs) or '-') .. ' ' .. job.id)
end

local function releasesKey(unique, state)
  if unique.ends == 'period' then return false end
  return state == 'done' or state == 'failed' or state == 'cancelled' or (unique.ends == 'started' and state == 'running')
end

-- The job that stands in the way of this one's unique key in that queue, if any.
local function keyHolderAgainst(job, queue)
  local unique = uniqueOf(job)
  local holder = unique and keyHolder(keyAddress(unique, queue))
  if holder ~= job.id then return holder end
end

local function holdsKey(job)
  local unique = uniqueOf(job)
  return unique and keyHolder(keyAddress(unique, job.queue)) == job.id
end

-- A key that a job holds ends with it or goes along to its next queue.
local function followKey(job, queueBefore)
  local unique = uniqueOf(job)
  if not unique then return end
  local from, to = keyAddress(unique, queueBefore), keyAddress(unique, job.queue)
  local isOver, hasMoved = releasesKey(unique, STATE[job.place]), from ~= to
  local isKept = hasMoved and not isOver and keyHolder(from) == job.id
  addresses[#addresses + 1] = from
  if isOver or hasMoved then releaseKey(from, job.id) end
  if isKept then takeKey(job) end
end

-- ── writing it down ─────────────────────────────────────────────────────────────────────────────────────────────

-- What a mender must know if this operation does not come to its end: who was touched, and what was to be left.
local function logOf()
  if #touched == 0 and not firstSeq and #indexKeys == 0 and not next(popped) then return nil end
  local lines, seqs = {}, {}
  if firstSeq then seqs[1] = text(firstSeq) .. '-' .. text(lastSeq) end
  for i = 1, #touched do
    local job = touched[i]
    seqs[#seqs + 1] = job.seq
    if job.wasIn and (job.isDeleted or job.place ~= 'f') then
      lines[#lines + 1] = 'fifo:' .. job.wasIn .. '\31' .. job.seq
      if not job.isPopped then
        left[job.wasIn] = left[job.wasIn] or {}
        table.insert(left[job.wasIn], job.seq)
      end
    end
  end
  for queue, seqsDropped in pairs(dropped) do
    lines[#lines + 1] = 'fifo:' .. queue .. '\31' .. concat(seqsDropped, '\31')
  end
  for i = 1, #indexKeys do
    local members = {}
    for member, score in pairs(index[indexKeys[i]]) do
      if not score then members[#members + 1] = member end
    end
    if #members > 0 then lines[#lines + 1] = indexKeys[i] .. '\31' .. concat(members, '\31') end
  end
  if #addresses > 0 then lines[#lines + 1] = 'keys\31' .. concat(addresses, '\31') end
  return concat(seqs, ' ') .. '\30' .. concat(lines, '\30')
end

local function writePieces(ids)
  local pieces, last = {}, nil
  for i = 1, #ids do
    local seq = firstSeq + i - 1
    local piece = floor(seq / PIECE)
    if not last or last.piece ~= piece then
      last = { piece = piece }
      pieces[#pieces + 1] = last
    end
    last[#last + 1] = seq % PIECE
    last[#last + 1] = ids[i]
  end
  local directory = {}
  for i = 1, #pieces do
    local piece = pieces[i].piece
    writeMany('HSET', 's:' .. piece, pieces[i])
    directory[#directory + 1] = piece
    directory[#directory + 1] = piece
  end
  writeMany('ZADD', 's', directory)
end

local function writeQueues()
  if #newQueues == 0 then return end
  local count, entries = call('ZCARD', P .. 'queues'), {}
  for i = 1, #newQueues do
    entries[#entries + 1] = count + i
    entries[#entries + 1] = newQueues[i]
  end
  writeMany('ZADD', 'queues', entries)
  newQueues = {}
end

local function writeBigTexts()
  local set, gone = {}, {}
  for address, value in pairs(bigTexts) do
    if value then
      set[#set + 1] = address
      set[#set + 1] = value
    else
      gone[#gone + 1] = address
    end
  end
  writeMany('HSET', 'big', set)
  return gone
end

-- One HSET holds all records of a call, and a claim's memory with them: either all of it is done or none.
local function writeRecords()
  local set, gone, n = births.records, {}, #births.records
  for i = 1, #touched do
    local job = touched[i]
    if job.isDeleted then
      gone[#gone + 1] = job.id
    else
      job.record = recordOf(job)
      set[n + 1], set[n + 2] = job.id, job.record
      n = n + 2
    end
  end
  for i = 1, #claims do set[n + i] = claims[i] end
  writeMany('HSET', 'j', set)
  writeMany('HDEL', 'j', gone)
end

local function writeKeys()
  local set, gone, periods, over = {}, {}, {}, {}
  for address, entry in pairs(keyWrites) do
    local to = entry and match(entry, '^%S+')
    if entry then
      set[#set + 1] = address
      set[#set + 1] = entry
    else
      gone[#gone + 1] = address
    end
    if to and to ~= '-' then
      periods[#periods + 1] = to
      periods[#periods + 1] = address
    else
      over[#over + 1] = address
    end
  end
  writeMany('HSET', 'keys', set)
  writeMany('HDEL', 'keys', gone)
  writeMany('ZADD', 'periods', periods)
  if #over > 0 and #gone > 0 then writeMany('ZREM', 'periods', over) end
end

-- A group of failures that has lost its last member is no group.
local function forgetGroup(key)
  local queue, name = match(key, '^group:([^:]*):(.*)$')
  if queue and call('EXISTS', P .. key) == 0 then write('ZREM', P .. 'groups:' .. queue, name) end
end

-- Entries first and leaving after: what is stopped in between stands in two places, never in none.
local function writeIndexes()
  local leaving = {}
  for i = 1, #indexKeys do
    local key, entries, members, n = indexKeys[i], {}, {}, 0
    for member, score in pairs(index[key]) do
      if score then
        entries[n + 1], entries[n + 2] = score, member
        n = n + 2
      else
        members[#members + 1] = member
      end
    end
    writeMany('ZADD', key, entries)
    if #members > 0 then leaving[#leaving + 1] = { key, members } end
  end
  for i = 1, #leaving do
    writeMany('ZREM', leaving[i][1], leaving[i][2])
    forgetGroup(leaving[i][1])
  end
end

local function writeFifos()
  for i = 1, #births.queues do writeMany('RPUSH', 'fifo:' .. births.queues[i], births.fifo[births.queues[i]]) end
  for queue, seqs in pairs(dropped) do writeMany('SREM', 'gone:' .. queue, seqs) end
  for queue, count in pairs(popped) do write('LTRIM', P .. 'fifo:' .. queue, count, -1) end
  for queue, seqs in pairs(left) do writeMany('SADD', 'gone:' .. queue, seqs) end
end

local function writeDeletions(texts)
  writeMany('HDEL', 'big', texts)
  for i = 1, #touched do
    local job = touched[i]
    if job.isDeleted then
      local piece = floor(job.seq / PIECE)
      write('HDEL', P .. 's:' .. piece, job.seq % PIECE)
      if call('EXISTS', P .. 's:' .. piece) == 0 then write('ZREM', P .. 's', piece) end
      jobs[job.id] = false
    end
  end
end

local function reset()
  for i = 1, #touched do
    local job = touched[i]
    job.isTouched, job.wasIn, job.isPopped = nil, nil, nil
  end
  touched, index, indexKeys, bigTexts, claims = {}, {}, {}, {}, {}
  popped, dropped, left, addresses, keyWrites, firstSeq = {}, {}, {}, {}, {}, nil
  births = { ids = {}, records = {}, fifo = {}, queues = {} }
end

-- Writes all that was decided. The first write says what is under way and the last that it is done.
local function flush()
  for i = 1, #touched do
    if not touched[i].isDeleted then enter(touched[i]) end
  end
  local log, meta = logOf(), clockFields()
  if log then
    meta[#meta + 1] = 'seq'; meta[#meta + 1] = text(lastSeq)
    meta[#meta + 1] = 'token'; meta[#meta + 1] = text(lastToken)
    meta[#meta + 1] = 'open'; meta[#meta + 1] = log
  end
  if #meta > 0 then write('HSET', P, unpack(meta)) end
  if not log then return end
  if firstSeq then writePieces(births.ids) end
  writeQueues()
  local forgotten = writeBigTexts()
  writeRecords()
  writeKeys()
  writeFifos()
  writeIndexes()
  writeDeletions(forgotten)
  write('HSET', P, 'open', '')
  reset()
end

-- ── mending what an operation left half done ────────────────────────────────────────────────────────────────────

local function openSeqs(words)
  local seqs = {}
  for from, to in gmatch(words, '(%d+)%-?(%d*)') do
    for seq = tonumber(from), tonumber(to) or tonumber(from) do seqs[#seqs + 1] = seq end
  end
  return seqs
end

-- A job that lives: in its indexes, in its fifo, with its key, or without.
local function mendJob(job)
  enter(job)
  putTags(job, tonumber(job.seq))
  if job.place == 'f' and not call('LPOS', P .. 'fifo:' .. job.queue, job.seq) then
    write('RPUSH', P .. 'fifo:' .. job.queue, job.seq)
  end
  local unique = uniqueOf(job)
  if not unique then return end
  if releasesKey(unique, STATE[job.place]) then releaseKey(keyAddress(unique, job.queue), job.id)
  elseif job.place ~= 'p' then takeKey(job) end
end

-- One line of the log: what was to be left is left now, unless its job belongs there.
local function mendLine(line, living)
  local members = {}
  for word in gmatch(line .. '\31', '([^\31]*)\31') do members[#members + 1] = word end
  local key = table.remove(members, 1)
  local queue = match(key, '^fifo:(.*)$')
  for i = 1, #members do
    local member = members[i]
    if queue then
      local job = living[tonumber(member)]
      if not (job and job.place == 'f' and job.queue == queue) then write('LREM', P .. key, 1, member) end
      write('SREM', P .. 'gone:' .. queue, member)
    elseif key == 'keys' then
      local entry = keyEntry(member)
      local id = entry and match(entry, '^%S+ (.*)$')
      if id then load({ id }) end
      local unique = id and jobs[id] and uniqueOf(jobs[id])
      if id and not (unique and keyAddress(unique, jobs[id].queue) == member) then setKey(member, false) end
    elseif not (index[key] and index[key][member]) then
      put(key, member, false)
    end
  end
end

-- Puts right what an operation that was stopped between two writes left behind. Hardly ever runs, so it may be slow.
local function heal()
  local head, rest = match(open, '^([^\30]*)\30?(.*)$')
  local seqs = openSeqs(head)
  local found, ids, living = jobsOf(seqs), idsOf(seqs), {}
  for i = 1, #seqs do
    if found[i] then
      living[seqs[i]] = found[i]
      mendJob(found[i])
    elseif ids[i] then
      write('HDEL', P .. 's:' .. floor(seqs[i] / PIECE), seqs[i] % PIECE)
      if not jobs[ids[i]] then write('HDEL', P .. 'big', 'd' .. ids[i], 'r' .. ids[i], 'v' .. ids[i], 't' .. ids[i]) end
    end
  end
  for line in gmatch(rest .. '\30', '([^\30]+)\30') do mendLine(line, living) end
  writeKeys()
  writeIndexes()
  write('HSET', P, 'open', '')
  reset()
end

-- ── the lifecycle: core/lifecycle.ts, restated ──────────────────────────────────────────────────────────────────

-- Cuts a note as JavaScript counts: in units of UTF-16, of which a character of four bytes has two.
local function cut(note)
  if #note <= MAX_NOTE_LENGTH then return note end
  local units, at = 0, 1
  while at <= #note do
    local byte = string.byte(note, at)
    local size = byte < 128 and 1 or byte < 224 and 2 or byte < 240 and 3 or 4
    units = units + (size == 4 and 2 or 1)
    if units > MAX_NOTE_LENGTH then return sub(note, 1, at - 1) end
    at = at + size
  end
  return note
end

local function remember(job, event, token, by, note)
  local fields, place = job.fields, job.place
  local row = '\31+' .. EVENT[event] .. (place == 'f' and 'w' or place) .. text(now - job.createdAt) .. ' ' .. (fields.attempt or '0')
  if token then row = row .. ' ' .. token end
  if by then row = row .. '\30b' .. by end
  if note then row = row .. '\30n' .. cut(note) end
  local rows, count = job.rows .. row, number(fields.rows) + 1
  if count > MAX_HISTORY - 1 then
    local second = find(rows, '\31+', 3, true)
    rows, count = sub(rows, second), count - 1
  end
  job.rows, fields.rows = rows, text(count)
end

-- The record is changed: its history, its unique key and the event follow.
local function apply(job, event, details)
  remember(job, event, details.token, details.by, details.note)
  followKey(job, details.from or job.queue)
  emit(event, job.queue, STATE[job.place], job.id)
end

local function ended(job, place)
  job.place = place
  setLease(job, nil)
  local fields = job.fields
  fields.endedAt, fields.returnedAt, fields.delayMs = text(now), nil, nil
end

-- Back in the queue, before everything else; `since` puts it in line among the others that came back.
local function returned(job, since, runAt)
  job.place = 'w'
  setLease(job, nil)
  job.fields.returnedAt = text(since)
  setRunAt(job, runAt)
end

local function setFailure(job, name, message, detail, said)
  job.fields.group, job.fields.message = name, message
  setText(job, 't', detail, said and said.texts and said.texts.t)
end

local function fresh(job)
  job.place = 'w'
  setLease(job, nil)
  local fields = job.fields
  fields.returnedAt, fields.failures, fields.resends, fields.crashes = nil, nil, nil, nil
  fields.progress, fields.forwardedTo, fields.endedAt = nil, nil, nil
  setText(job, 'r', nil)
  setFailure(job, nil, nil, nil)
end

-- A lease that ended while the store saw nobody at all gets its whole length again.
local function isOvertakable(job, settings)
  if job.place ~= 'r' or settings.onLost == 'hold' then return false end
  local lease = leaseOf(job)
  local to = gapFrom < lease.to and max(lease.to, gapTo + lease.ms) or lease.to
  return now >= to + settings.lostGraceMs
end

local function isHeld(job, settings)
  return job.place == 'r' and settings.onLost == 'hold' and now >= leaseOf(job).to
end

local function retriesOf(job, settings)
  return tonumber(job.fields.retries) or settings.retries
end

local function lostAsFailure(job, settings, why)
  local failures = number(job.fields.failures) + 1
  local since = min(leaseOf(job).to, now)
  setNumber(job, 'failures', failures)
  if failures <= retriesOf(job, settings) then return returned(job, since, now) end
  ended(job, 'x')
  setFailure(job, orNil(settings.exhaustedGroup) or 'lost', why, nil)
end

local function lostAsCrash(job, settings, why)
  local crashes = number(job.fields.crashes) + 1
  local since = min(leaseOf(job).to, now)
  setNumber(job, 'crashes', crashes)
  if crashes < settings.maxCrashes then
    return returned(job, since, now + CRASH_DELAYS[min(crashes, #CRASH_DELAYS)])
  end
  ended(job, 'x')
  setFailure(job, 'crashed', 'its worker was lost ' .. text(crashes) .. ' times', why)
end

-- The attempt's worker is gone: its lease ended, or somebody failed the worker.
local function lose(job, settings, why)
  touch(job)
  local lease = leaseOf(job)
  local event, details = 'lost', { token = lease.token, by = lease.worker, note = why }
  if lease.cancelAskedAt ~= '-' then
    event = 'cancelled'
    ended(job, 'c')
  elseif settings.onLost == 'fail' then
    ended(job, 'x')
    setFailure(job, 'lost', why, nil)
  elseif settings.lostCountsAs == 'failure' then
    lostAsFailure(job, settings, why)
  else
    lostAsCrash(job, settings, why)
  end
  apply(job, event, details)
end

-- Ends the attempts of a queue whose lease nobody renewed. Returns how many.
local function overtake(queue, limit)
  local settings = settingsOf(queue)
  if settings.onLost == 'hold' then return 0 end
  local members = call('ZRANGEBYSCORE', P .. 'running:' .. queue, '-inf', text(now), 'LIMIT', 0, limit)
  local expired, count = jobsOf(seqsOf(members)), 0
  for i = 1, #members do
    local job = expired[i]
    if job and isOvertakable(job, settings) then
      lose(job, settings, 'its lease was not renewed')
      count = count + 1
    end
  end
  if count > 0 then flush() end
  return count
end

-- Jobs among the ready and plain ones whose time has not come: there are none unless the clock went back.
local function notDue(queue)
  local found = {}
  if not isBehind then return found end
  local ready = jobsOf(seqsOf(call('ZRANGE', P .. 'ready:' .. queue, 0, -1)))
  local plain = jobsOf(seqsOf(call('LRANGE', P .. 'fifo:' .. queue, 0, -1)))
  for _, job in ipairs(ready) do
    if job and job.place == 'w' and job.queue == queue and runAtOf(job) > now then found[#found + 1] = job end
  end
  for _, job in ipairs(plain) do
    if job and job.place == 'f' and job.queue == queue and runAtOf(job) > now then found[#found + 1] = job end
  end
  return found
end

-- The soonest time after now at which a waiting job could be claimed.
local function nextRunAt(queue)
  local later = call('ZRANGEBYSCORE', P .. 'later:' .. queue, '(' .. text(now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  local soonest = tonumber(later[2]) or math.huge
  for _, job in ipairs(notDue(queue)) do soonest = min(soonest, runAtOf(job)) end
  return soonest
end

-- By bytes. Lua's own comparison goes by the locale of the server.
local function isByteBefore(a, b)
  for i = 1, min(#a, #b) do
    local byteA, byteB = string.byte(a, i), string.byte(b, i)
    if byteA ~= byteB then return byteA < byteB end
  end
  return #a < #b
end

local function queuesByName()
  local queues = call('ZRANGE', P .. 'queues', 0, -1)
  table.sort(queues, isByteBefore)
  return queues
end

-- Every running job, queue by queue, the earliest end of a lease first.
local function allRunning()
  local running = {}
  for _, queue in ipairs(call('ZRANGE', P .. 'queues', 0, -1)) do
    for _, job in ipairs(jobsOf(seqsOf(call('ZRANGE', P .. 'running:' .. queue, 0, -1)))) do
      if job then running[#running + 1] = job end
    end
  end
  return running
end

local function removeWithKey(job)
  touch(job)
  job.isDeleted = true
  putTags(job, false)
  for letter in gmatch(job.fields.apart or '', '.') do bigTexts[letter .. job.id] = false end
  local unique = uniqueOf(job)
  if unique then
    local address = keyAddress(unique, job.queue)
    addresses[#addresses + 1] = address
    releaseKey(address, job.id)
  end
  emit('deleted', job.queue, STATE[job.place], job.id)
end

-- The job a caller means, or why it cannot be meant.
local function target(id, said)
  local job = jobs[id]
  if not job then return nil, '!not-found' end
  if said.attempt and number(job.fields.attempt) ~= tonumber(said.attempt) then return nil, '!moved-on' end
  return job
end

-- Each request of a list: id, then its words. `each` answers a word or a refusal, which begins with `!`.
local function forEach(each)
  local ids, kinds, saids, at = {}, {}, {}, 2
  while ARGV[at] do
    local n = #ids + 1
    ids[n] = ARGV[at]
    kinds[n], saids[n], at = request(at + 1)
  end
  load(ids)
  local answers = {}
  for i = 1, #ids do answers[i] = each(ids[i], saids[i], kinds[i]) end
  flush()
  publish()
  return concat(answers, '\31')
end

-- How a changing operation begins: the time, what an earlier one left undone, and leases after a step of the clock.
local function begin()
  look()
  if open and open ~= '' then heal() end
  if mode == 'caller' or clock.seen - now <= CLAMP_MS then return end
  for _, job in ipairs(allRunning()) do
    touch(job)
    local lease = leaseOf(job)
    lease.to = now + lease.ms
    setLease(job, lease)
  end
  flush()
end

