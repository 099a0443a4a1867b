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

-- Reads the jobs whose delay is over, and appends them to `entries`. Nil if there is one that the fast path cannot place.
local function readDue(queue, entries)
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
    line[#line + 1], entries[#entries + 1] = entry, entry
  end
  return true
end

-- The jobs outside the fifo that a claim may take, in its order: ready ones, which are read once they are chosen, all that
-- are due, and those that this call has brought into line. Nil if there is one that the fast path cannot place.
local function readyLine(queue, limit)
  local line, entries, n, ready = queue.line, {}, #queue.line, 'ready:' .. queue.name
  local stored = call('ZRANGE', P .. ready, 0, limit - 1, 'WITHSCORES')
  for i = 1, #stored, 2 do
    local member = stored[i]
    if #member ~= 24 then return nil end -- it has a turn
    entries[#entries + 1] = { from = ready, member = member, time = tonumber(member:sub(1, 11), 16), seq = tonumber(member:sub(12), 16), priority = tonumber(stored[i + 1]) }
  end
  if not readDue(queue, entries) then return nil end
  for i = 1, n do
    if line[i].time <= batch.now then entries[#entries + 1] = line[i] end
  end
  if #line > 0 then table.sort(entries, isBefore) end
  return entries
end

-- The first jobs in line; those of the fifo have priority 0 and no entry.
local function first(queue, limit, hasOthers)
  local ready, seqs = hasOthers and readyLine(queue, limit), call('LRANGE', P .. 'fifo:' .. queue.name, '0', ('%d'):format(limit - 1))
  local ids, texts = load(seqs)
  if not ids or ready == nil then return nil end
  if not ready or #ready == 0 then
    queue.popped = seqs
    return { ids = ids, texts = texts, seqs = seqs, entries = {} }
  end
  local line, at, n, unread, places = { ids = {}, texts = {}, seqs = {}, entries = {} }, 1, 0, {}, {}
  for i = 1, math.min(limit, #seqs + #ready) do
    local entry, plain = ready[at], seqs[n + 1]
    if entry and plain then
      local seq, createdAt = (texts[n + 1] or ''):match('^.(%d+) (%d+) ')
      if not seq then return nil end
      if isBefore(entry, { priority = 0, time = createdAt + 0, seq = seq + 0 }) then plain = nil end
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
