-- fast-add: `add` for new jobs in queues that had jobs before (see fastpath.lua). A job is ordinary with a name, policy, priority,
-- tags, delay, run time, or a unique key that is free. ARGV and answer as in operations/add.lua.
-- uses: batch
-- on demand: fast-limits

-- Names of fields that stay as they are. A job with any other field takes the general path.
local ADDED = ' name policy retries maxResends onDependencyFailed tags throttles key needs hooks unique '
local fifos, fields = {}, {} -- `fields`: those of a piece as text, by number

-- What the jobs of a run share: the queue, the text between seq and data, and where they wait.
local function sharedBy(kind, name, fields)
  local queue, null, now, numberIn = fifos[name] or { name = name, settings = false }, cjson.null, batch.now, batch.numberIn
  local isKnown, settings = queue.settings or call('ZSCORE', P .. 'queues', name), batch.settings(queue)
  fifos[name] = queue
  if not isKnown or settings.state == 'down' or settings.state == 'deleted' or (settings.keys or null) ~= null
    or (settings.coalesce or null) ~= null then return nil end
  local kept, priority, time = fields, settings.priority, now
  if fields ~= '' and (kind ~= 'plain' or priority ~= 0) then
    local runAt, delayMs = numberIn(fields, 'runAt'), numberIn(fields, 'delayMs') or 0
    kept, priority = batch.keep(fields, ADDED, ' priority runAt delayMs '), numberIn(fields, 'priority') or priority
    time = runAt or now + delayMs
    if not kept or priority % 1 ~= 0 or time % 1 ~= 0 or time < 0 or time > FASTPATH.MAX_TIME then return nil end
    if delayMs > 0 and not runAt then kept = kept .. ('\31delayMs=%d'):format(delayMs) end
    if time ~= now then kept = kept .. ('\31runAt=%d'):format(time) end
  end
  if priority ~= 0 then kept = kept .. ('\31priority=%d'):format(priority) end
  return {
    queue = queue, text = ' ' .. batch.nowText .. ' ' .. name .. kept, tags = fields:match('\31tags=([^\31]*)'),
    unique = fields:match('\31unique=([^\31]*)'),
    place = (priority ~= 0 or time ~= now) and 'w' or 'f', priority = priority, time = time,
  }
end

local function tagWith(tags, seq, hex)
  for tag in (tags .. '\30'):gmatch('([^\30]*)\30') do
    batch.enter('tag:' .. tag, seq, hex)
    batch.enter('tags', '0', tag)
  end
end

-- A new job stands in the index by insertion before it has a record, so that a repair finds it.
local function addRun(run)
  local queue, place, tags, text, pieces, PIECE = run.queue, run.place, run.tags, run.text, batch.pieces, FASTPATH.SEQS_PER_PIECE
  local records, count, seq, piece = batch.records, batch.count, batch.last, pieces[#pieces]
  local name, pushed, inPiece, nPushed, group, size = queue.name, queue.pushed, piece and #piece, 0, nil, 0
  if place == 'f' and not pushed then
    pushed = {}
    queue.pushed, fifos[#fifos + 1] = pushed, queue
  elseif place == 'f' then
    nPushed = #pushed
  end
  if run.time <= batch.now and not queue.isMarked then
    queue.isMarked = true
    batch.enter('marker:' .. name, '0', '0')
  end
  for at = run.first, run.last, 2 do
    local id = args[at]
    seq, count = seq + 1, count + 1
    local number = seq % PIECE
    local seqText, hex = ('%d'):format(seq), (place == 'w' or tags) and ('%013x'):format(seq)
    records[2 * count - 1], records[2 * count] = id, place .. seqText .. text .. args[at + 1]
    if place == 'f' then pushed[nPushed + 1], nPushed = seqText, nPushed + 1 else batch.wait(name, run, hex) end
    if tags then tagWith(tags, seqText, hex) end
    if not piece or number == 0 then
      piece, inPiece = { number = ('%d'):format(math.floor(seq / PIECE)) }, 0
      pieces[#pieces + 1] = piece
    end
    local field = fields[number]
    if not field then
      field = ('%d'):format(number)
      fields[number] = field
    end
    piece[inPiece + 1], piece[inPiece + 2], inPiece = field, id, inPiece + 2
    if group then group[size + 1], size = id, size + 1 else group, size = batch.emit('added', 'waiting', name, id) end
  end
  batch.last, batch.count = seq, count
end

return {
  add = function()
    if not batch.start('seq') then return nil end
    local at, ids, isKnown, runs, hasKeys = 2, {}, {}, {}, false
    while args[at] do
      local run, last = sharedBy(args[at], args[at + 1], args[at + 2]), at + 3 + 2 * args[at + 3]
      if not run or not batch.idsAt(at + 4, last, ids, isKnown) then return nil end
      run.first, run.last, runs[#runs + 1], at = at + 4, last, run, last + 1
      hasKeys = hasKeys or run.unique
    end
    local found = call('HMGET', P .. 'j', unpack(ids))
    for i = 1, #ids do
      if found[i] then return nil end
    end
    if hasKeys and not require('fast-limits').takeKeys(runs) then return nil end
    batch.pieces, batch.fifos = {}, fifos
    for i = 1, #runs do addRun(runs[i]) end
    batch.flush()
    return ''
  end,
}
