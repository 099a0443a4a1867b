-- waiting-line: the waiting jobs of a queue in the order in which they are claimed, for the fast path (fastpath.lua). Their
-- records stay text.
-- uses: batch, pieces

-- How the record of a job in the fifo begins, and that of any other waiting job.
local PLAIN, OTHER = '^f((%d+) (%d+) ([^\31]+))()', '^w((%d+) (%d+) ([^\31]+))()'

-- Returns the ids and records of seqs; nil if one has none.
local function load(seqs)
  local ids = pieces.idsOf(seqs)
  if #seqs == 0 then return ids, ids end
  for i = 1, #seqs do
    if not ids[i] then return nil end
  end
  return ids, call('HMGET', P .. 'j', unpack(ids))
end

-- The parts of a waiting job: head, seq, createdAt, its next attempt, fields, the count of its rows, those, data.
local function read(text, queue, isOutsideFifo)
  local head, seq, createdAt, name, stop = (text or ''):match(isOutsideFifo and OTHER or PLAIN)
  if name ~= queue then return nil end
  local dataAt, rowsAt = text:find('\31:', stop, true), text:find('\31rows=', stop, true)
  if not rowsAt then return head, seq, createdAt, '1', text:sub(stop, dataAt - 1), 0, '', text:sub(dataAt) end
  local attempt, after = text:match('^\31attempt=(%d+)()', stop)
  local count, rest = text:match('^(%d+)()', rowsAt + 6)
  return head, seq, createdAt, ('%d'):format((attempt or 0) + 1), text:sub(after or stop, rowsAt - 1), count + 0,
    text:sub(rest, dataAt - 1), text:sub(dataAt)
end

-- Whether `a` is claimed before `b`.
local function isBefore(a, b)
  if a.priority ~= b.priority then return a.priority < b.priority end
  if a.time ~= b.time then return a.time < b.time end
  return a.seq < b.seq
end

-- Reads the jobs whose delay is over, and brings them into line. Nil if there is one that the fast path cannot place.
local function readDue(queue)
  local line, later, seqs, numberIn = queue.line, 'later:' .. queue.name, {}, batch.numberIn
  local due = call('ZRANGEBYSCORE', P .. later, '-inf', batch.nowText, 'LIMIT', 0, FASTPATH.MAX_PROMOTED)
  if #due == 0 then return true end
  batch.statistics.part() -- here the general path writes, what was settled and claimed before included
  for i = 1, #due do seqs[i] = tonumber(due[i], 16) end
  local ids, texts = load(seqs)
  if not ids then return nil end
  for i = 1, #due do
    local head, _, createdAt, _, fields = read(texts[i], queue.name, true)
    if not head or fields:find('\31returnedAt=', 1, true) or fields:find('\31turn=', 1, true) then return nil end
    local time, priority = numberIn(fields, 'runAt') or createdAt + 0, numberIn(fields, 'priority') or 0
    if time > batch.now then return nil end
    local entry = { from = later, hex = due[i], seq = seqs[i], id = ids[i], text = texts[i], time = time, priority = priority }
    line[#line + 1] = entry
  end
  return true
end

-- Appends the members from..to of the ready index. Nil if one of them has a turn.
local function readReady(key, from, to, entries)
  local stored = call('ZRANGE', P .. key, from, to, 'WITHSCORES')
  for i = 1, #stored, 2 do
    local member = stored[i]
    if #member ~= 24 then return nil end
    entries[#entries + 1] = { from = key, member = member, time = tonumber(member:sub(1, 11), 16), seq = tonumber(member:sub(12), 16), priority = tonumber(stored[i + 1]) }
  end
  return entries
end

-- The first of the ready index, as far as they may be before `last`.
local function readyBefore(key, limit, last)
  local entries = readReady(key, 0, last and 0 or limit - 1, {})
  if not last or not entries or not entries[1] then return entries end
  if not isBefore(entries[1], last) then return {} end
  return readReady(key, 1, limit - 1, entries)
end

-- The jobs outside the fifo that a claim may take, in its order: ready ones, which are read once they are chosen, all that
-- are due, and those that this call has brought into line. If the fifo has enough jobs, only those before the `last` of them.
-- Nil if there is one that the fast path cannot place.
local function readyLine(queue, limit, last)
  local line, entries = queue.line, readyBefore('ready:' .. queue.name, limit, last)
  if not entries or not readDue(queue) then return nil end
  for i = 1, #line do
    if line[i].time <= batch.now and (not last or isBefore(line[i], last)) then entries[#entries + 1] = line[i] end
  end
  if #line > 0 then table.sort(entries, isBefore) end
  return entries
end

-- Where a job of the fifo stands.
local function placeOf(text)
  local seq, createdAt = (text or ''):match('^.(%d+) (%d+) ')
  return seq and { priority = 0, time = createdAt + 0, seq = seq + 0 }
end

-- The first jobs in line; those of the fifo have priority 0 and no entry.
local function first(queue, limit, hasOthers)
  local seqs, ready, last = call('LRANGE', P .. 'fifo:' .. queue.name, '0', ('%d'):format(limit - 1)), false, nil
  local ids, texts = load(seqs)
  if not ids then return nil end
  if hasOthers then
    last = seqs[limit] and placeOf(texts[limit])
    ready = readyLine(queue, limit, last)
  end
  if ready == nil then return nil end
  if not ready or #ready == 0 then
    queue.popped = seqs
    return { ids = ids, texts = texts, seqs = seqs, entries = {} }
  end
  local line, at, n, unread, places = { ids = {}, texts = {}, seqs = {}, entries = {} }, 1, 0, {}, {}
  for i = 1, math.min(limit, #seqs + #ready) do
    local entry, plain = ready[at], seqs[n + 1]
    if entry and plain then
      local place = placeOf(texts[n + 1])
      if not place then return nil end
      if isBefore(entry, place) then plain = nil end
    end
    if plain then
      n = n + 1
      line.ids[i], line.texts[i], line.seqs[i], queue.popped[n] = ids[n], texts[n], plain, plain
    else
      at = at + 1
      line.ids[i], line.texts[i], line.seqs[i], line.entries[i] = entry.id, entry.text, ('%d'):format(entry.seq), entry
      if not entry.id then unread[#unread + 1], places[#places + 1] = entry.seq, i end
    end
  end
  ids, texts = load(unread)
  if not ids then return nil end
  for i = 1, #places do line.ids[places[i]], line.texts[places[i]] = ids[i], texts[i] end
  return line
end

return { first = first, read = read }
