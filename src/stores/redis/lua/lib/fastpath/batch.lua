-- batch: what the fast path (fastpath.lua) is built on. It reads the clock and settings, collects what a call will write, and
-- writes it in the order of unit-of-work.lua, so that the next call can repair what an aborted one left.
--
-- All of this is set up in every call, so functions and tables are few, and loops do not ask lists for their length. Numbers
-- are given to commands as text: the server would write them with %.17g, which takes longer than most commands.
-- uses: fast-settings

return {
  now = 0, nowText = '', clockField = false, hooks = false, -- the clock's field to write; the queues that have webhooks
  counter = '', first = 0, last = 0, -- a counter as it was read, and as it will be
  count = 0, records = {}, seqs = {}, -- of jobs: their records, each after its id, and their seqs
  queues = {}, indexes = {}, events = {}, group = false, pieces = false, fifos = false,
  statistics = false, -- of a call that measures: see fastpath.run
  limits = false, keys = false, -- fast-limits.lua, if a job has a limit; the unique keys to write

  -- Reads the clock and a counter. Returns whether the store is in order and its time goes on as usual.
  start = function(counter)
    local seen, high, last, open, closed, step, hooks =
      unpack(call('HMGET', P, 'seen', 'high', counter, 'open', 'closed', 'step', 'hooks'))
    if (open or '') ~= '' or (closed or '') ~= '' or (step or '') ~= '' then return false end
    local mode, given = args[1]:match('^(%a*) ?(.*)$')
    local now = mode ~= 'store' and tonumber(given)
    if not now then
      local time = call('TIME')
      now = time[1] * 1000 + math.floor(time[2] / 1000)
    end
    seen, high, last = tonumber(seen) or 0, tonumber(high) or 0, tonumber(last) or 0
    if now % 1 ~= 0 or now < seen or now < high or now > FASTPATH.MAX_TIME then return false end
    if mode ~= 'caller' and seen > 0 and now - seen > FASTPATH.GAP_MS then return false end
    batch.now, batch.nowText, batch.hooks = now, ('%d'):format(now), hooks and hooks ~= '' and hooks
    batch.counter, batch.first, batch.last = counter, last, last
    batch.clockField = mode ~= 'caller' and now ~= seen and 'seen' or mode == 'caller' and now > high and 'high'
    return true
  end,

  -- ── queues ──

  -- A queue of this call: `line` are the jobs that it brings into line, `popped` seqs of the fifo that are claimed; `done`
  -- and `running` what enters those indexes, each member after its score, and `left` what leaves running.
  queue = function(name)
    local queue = batch.queues[name]
    if not queue then
      queue = { name = name, settings = false, line = {}, popped = {}, done = {}, running = {}, left = {} }
      batch.queues[name], batch.queues[#batch.queues + 1] = queue, queue
    end
    return queue
  end,

  settings = function(queue)
    queue.settings = queue.settings or fastSettings.of(queue.name)
    return queue.settings
  end,

  -- Whether a queue has webhooks, by its own settings or by those of every queue.
  isHooked = function(queue)
    local hooks = batch.hooks
    return hooks and (hooks:find(' ' .. queue .. ' ', 1, true) or hooks:find(' * ', 1, true))
  end,

  -- ── records ──

  -- Reads every second argument from `first` to `last` into `ids`; false if there are too many, or one is there twice.
  idsAt = function(first, last, ids, isKnown)
    local n = #ids
    for at = first, last, 2 do
      local id = args[at]
      if isKnown[id] then return false end
      n = n + 1
      ids[n], isKnown[id] = id, true
    end
    return n <= FASTPATH.MAX_JOBS
  end,

  -- Returns the fields without those in `dropped`; false if there is an unknown one.
  keep = function(fields, known, dropped)
    local kept = fields
    for name in fields:gmatch('\31(%a+)=') do
      local word = ' ' .. name .. ' '
      if dropped:find(word, 1, true) then
        kept = kept:gsub('\31' .. name .. '=[^\31]*', '')
      elseif not known:find(word, 1, true) then
        return false
      end
    end
    return kept
  end,

  numberIn = function(fields, name)
    return tonumber(fields:match('\31' .. name .. '=([^\31]*)'))
  end,

  -- ── what will be written. Of several records of one job the last counts ──

  record = function(id, text, seq)
    local records, n = batch.records, batch.count + 1
    records[2 * n - 1], records[2 * n], batch.seqs[n], batch.count = id, text, seq, n
  end,

  -- What enters and leaves any other sorted set.
  index = function(key)
    local index = batch.indexes[key]
    if not index then
      index = { key = key, entries = {}, members = {} }
      batch.indexes[key], batch.indexes[#batch.indexes + 1] = index, index
    end
    return index
  end,

  enter = function(key, score, member)
    local entries = batch.index(key).entries
    local n = #entries
    entries[n + 1], entries[n + 2] = score, member
  end,

  leave = function(key, member)
    local members = batch.index(key).members
    members[#members + 1] = member
  end,

  -- A waiting job that is not in the fifo stands by its time, or by priority once that has come.
  wait = function(queue, job, hex)
    if job.time > batch.now then return batch.enter('later:' .. queue, ('%d'):format(job.time), hex) end
    batch.enter('ready:' .. queue, ('%d'):format(job.priority), ('%011x'):format(job.time) .. hex)
  end,

  -- Returns the group of alike events, and its length.
  emit = function(event, state, queue, id)
    local group = batch.group
    if not group or group[1] ~= event or group[3] ~= queue then
      group = { event, state, queue }
      batch.group, batch.events[#batch.events + 1] = group, group
    end
    local n = #group + 1
    group[n] = id
    return group, n
  end,

  -- ── writing ──

  -- What the next call must know to repair this one, should it be aborted: see repair-log.lua.
  log = function()
    local queues, indexes = batch.queues, batch.indexes
    local lines = { batch.pieces and ('%d-%d'):format(batch.first + 1, batch.last) or table.concat(batch.seqs, ' ') }
    for i = 1, #queues do
      local queue = queues[i]
      if queue.popped[1] then lines[#lines + 1] = 'fifo:' .. queue.name .. '\31' .. table.concat(queue.popped, '\31') end
      if queue.left[1] then lines[#lines + 1] = 'running:' .. queue.name .. '\31' .. table.concat(queue.left, '\31') end
    end
    for i = 1, #indexes do
      if indexes[i].members[1] then lines[#lines + 1] = indexes[i].key .. '\31' .. table.concat(indexes[i].members, '\31') end
    end
    if batch.keys and batch.keys.gone[1] then lines[#lines + 1] = 'keys\31' .. table.concat(batch.keys.gone, '\31') end
    return table.concat(lines, '\30') .. (lines[2] and '' or '\30')
  end,

  write = function(command, key, list)
    local STEP, n = FASTPATH.MAX_ARGUMENTS, #list
    if n <= STEP then return n > 0 and write(command, P .. key, unpack(list)) end
    for from = 1, n, STEP do write(command, P .. key, unpack(list, from, math.min(from + STEP - 1, n))) end
  end,

  writeKeys = function(keys)
    batch.write('ZADD', 'periods', keys.periods)
    batch.write('HSET', 'keys', keys.set)
    batch.write('HDEL', 'keys', keys.gone)
    batch.write('ZREM', 'periods', keys.gone)
  end,

  flush = function()
    local clockField, indexes, queues, records, writeAll = batch.clockField, batch.indexes, batch.queues, batch.records, batch.write
    if batch.count == 0 then return clockField and write('HSET', P, clockField, batch.nowText) end
    if batch.last ~= batch.first then
      write('HSET', P, 'open', batch.log(), batch.counter, ('%d'):format(batch.last))
    else
      write('HSET', P, 'open', batch.log())
    end
    for i = 1, batch.pieces and #batch.pieces or 0 do
      local piece = batch.pieces[i]
      write('HSET', P .. 's:' .. piece.number, unpack(piece))
      write('ZADD', P .. 's', piece.number, piece.number)
    end
    if batch.statistics then batch.statistics.append(records, batch.nowText) end
    write('HSET', P .. 'j', unpack(records)) -- in one, so that all of it is done or none
    if batch.keys then batch.writeKeys(batch.keys) end
    for i = 1, batch.fifos and #batch.fifos or 0 do write('RPUSH', P .. 'fifo:' .. batch.fifos[i].name, unpack(batch.fifos[i].pushed)) end
    for i = 1, #queues do
      local queue = queues[i]
      if queue.popped[1] then write('LTRIM', P .. 'fifo:' .. queue.name, ('%d'):format(#queue.popped), '-1') end
      if queue.done[1] then write('ZADD', P .. 'done:' .. queue.name, unpack(queue.done)) end
      if queue.running[1] then write('ZADD', P .. 'running:' .. queue.name, unpack(queue.running)) end
    end
    for i = 1, #indexes do writeAll('ZADD', indexes[i].key, indexes[i].entries) end
    for i = 1, #queues do
      if queues[i].left[1] then write('ZREM', P .. 'running:' .. queues[i].name, unpack(queues[i].left)) end
    end
    for i = 1, #indexes do writeAll('ZREM', indexes[i].key, indexes[i].members) end
    if clockField then write('HSET', P, 'open', '', clockField, batch.nowText) else write('HSET', P, 'open', '') end
    batch.publish()
  end,

  -- Of these events, workers must hear of those after which a job waits: see events.lua.
  publish = function()
    local events, about = batch.events, {}
    for i = 1, #events do
      local isWaiting = events[i][2] == 'waiting'
      events[i] = table.concat(events[i], '\31')
      if isWaiting then about[#about + 1] = events[i] end
    end
    -- The text of many ids is not built again: the server hashes each string that it makes.
    if events[1] then call('PUBLISH', P .. 'events', events[2] and table.concat(events, '\30') or events[1]) end
    if about[1] then call('PUBLISH', P .. 'work', about[2] and table.concat(about, '\30') or about[1]) end
  end,
}
