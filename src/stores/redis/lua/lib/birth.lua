-- birth: add in its everyday case, put before the prelude, which takes longer to be laid out than this to run. New plain
-- jobs that are alike but for id and data, in a queue that has had jobs before; the clock in order.
-- It says and writes what the prelude would. Whatever it does not know makes it answer nothing, and then it has
-- written nothing: add.lua goes its usual way.
--
-- Invariant: nothing is decided here that add.lua would not decide alike; swift.test.ts and the model hold them equal.
-- uses: everyday

local function birth()
  local queue, count, PIECE = args[3], tonumber(args[5]), EVERYDAY.PIECE
  if args[2] ~= 'plain' or count > EVERYDAY.MOST or #args ~= 5 + 2 * count then return nil end
  local now, nowText, last, clockField = moment('seq')
  if not now then return nil end
  local settings, null = settingsOf(queue), cjson.null
  if settings.state == 'down' or settings.state == 'deleted' or settings.priority ~= 0 or (settings.keys or null) ~= null
    or (settings.coalesce or null) ~= null or not call('ZSCORE', P .. 'queues', queue) then return nil end
  local ids, isNamed = {}, {}
  for i = 1, count do
    local id = args[4 + 2 * i]
    if isNamed[id] then return nil end
    ids[i], isNamed[id] = id, true
  end
  local found = call('HMGET', P .. 'j', unpack(ids))
  for i = 1, count do
    if found[i] then return nil end
  end

  local head, records, fifo = ' ' .. nowText .. ' ' .. queue .. args[4], {}, {}
  local pieces, directory, piece, n = {}, {}, nil, 0
  for i = 1, count do
    local seq, id = last + i, ids[i]
    local seqText = ('%d'):format(seq)
    records[2 * i - 1], records[2 * i], fifo[i] = id, 'f' .. seqText .. head .. args[5 + 2 * i], seqText
    if not piece or seq % PIECE == 0 then
      piece, n = {}, 0
      pieces[#pieces + 1] = piece
      directory[2 * #pieces - 1], directory[2 * #pieces] = math.floor(seq / PIECE), math.floor(seq / PIECE)
    end
    piece[n + 1], piece[n + 2], n = ('%d'):format(seq % PIECE), id, n + 2
  end

  -- In the order of work.flush: what is under way, where a mender finds the new jobs, their records, their place in line, the time.
  local seq = ('%d'):format(last + count)
  write('HSET', P, 'open', ('%d'):format(last + 1) .. '-' .. seq .. '\30', 'seq', seq)
  for i = 1, #pieces do write('HSET', P .. 's:' .. directory[2 * i], unpack(pieces[i])) end
  write('ZADD', P .. 's', unpack(directory))
  write('HSET', P .. 'j', unpack(records))
  write('RPUSH', P .. 'fifo:' .. queue, unpack(fifo))
  close(clockField, nowText)
  local news = 'added\31waiting\31' .. queue .. '\31' .. table.concat(ids, '\31')
  call('PUBLISH', P .. 'events', news)
  call('PUBLISH', P .. 'work', news)
  return ''
end

