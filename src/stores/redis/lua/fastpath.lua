-- fastpath: add, claim, heartbeat and settle for ordinary jobs, before the library of the general path is set up, which
-- takes longer than all of this. A job is ordinary with a name, retries, a priority, tags or a delay; an attempt outcome
-- when it completes the job or fails with a retry; a heartbeat also with progress, a start or a checkpoint.
-- The clock is in order, no lease of the queue has expired, and the queue has no limits, keys, resources or webhooks.
--
-- Answers and keys are those of the general path (fast-path.test.ts compares them all).
--
-- Invariant: everything is decided before the first write (batch.flush). A function that meets anything else returns
-- nil or false; then nothing was written, and the operation takes the general path.

local fastpath
-- Names of fields that stay as they are and decide nothing here. A job with any other field takes the general path.
local ADDED = ' name policy retries maxResends onDependencyFailed tags '
local KEPT = ADDED .. 'parents priority runAt delayMs freedAt failures crashes resends interruptions checkpoint '

fastpath = {
  -- ── add: new jobs in queues that are registered. ARGV and answer as in add.lua ──

  add = function()
    -- What the jobs of a run share: the queue, the text between seq and data, and where they wait.
    local function sharedBy(name, fields)
      local queue, null, now, numberIn = batch.queue(name), cjson.null, batch.now, batch.numberIn
      local isKnown, settings = queue.settings or call('ZSCORE', P .. 'queues', name), batch.settings(queue)
      if not isKnown or settings.state == 'down' or settings.state == 'deleted' or (settings.keys or null) ~= null
        or (settings.coalesce or null) ~= null then return nil end
      local kept, runAt = batch.keep(fields, ADDED, ' priority runAt delayMs '), numberIn(fields, 'runAt')
      local priority, delayMs = numberIn(fields, 'priority') or settings.priority, not runAt and numberIn(fields, 'delayMs') or 0
      local time = runAt or now + delayMs
      if not kept or priority % 1 ~= 0 or time % 1 ~= 0 or time < 0 or time > FASTPATH.MAX_TIME then return nil end
      if delayMs > 0 then kept = kept .. ('\31delayMs=%d'):format(delayMs) end
      if time ~= now then kept = kept .. ('\31runAt=%d'):format(time) end
      if priority ~= 0 then kept = kept .. ('\31priority=%d'):format(priority) end
      return {
        queue = queue, text = ' ' .. batch.nowText .. ' ' .. name .. kept, tags = fields:match('\31tags=([^\31]*)'),
        place = (priority ~= 0 or time ~= now) and 'w' or 'f', priority = priority, time = time,
      }
    end

    -- A new job stands in the index by insertion before it has a record, so that a repair finds it.
    local function insert(id, seq)
      local pieces, PIECE = batch.pieces, FASTPATH.PIECE
      local piece = pieces[#pieces]
      if not piece or seq % PIECE == 0 then
        piece = { number = math.floor(seq / PIECE) }
        pieces[#pieces + 1] = piece
      end
      local n = #piece
      piece[n + 1], piece[n + 2] = ('%d'):format(seq % PIECE), id
    end

    local function addRun(run)
      local name, pushed, place, tags, text, seq = run.queue.name, run.queue.pushed, run.place, run.tags, run.text, batch.last
      for at = run.first, run.last, 2 do
        local id = args[at]
        seq = seq + 1
        local seqText, hex = ('%d'):format(seq), (place == 'w' or tags) and ('%013x'):format(seq)
        insert(id, seq)
        batch.record(id, place .. seqText .. text .. args[at + 1], seqText)
        if place == 'f' then pushed[#pushed + 1] = seqText else batch.wait(name, run, hex) end
        for tag in (tags and tags .. '\30' or ''):gmatch('([^\30]*)\30') do
          batch.enter('tag:' .. tag, seqText, hex)
          batch.enter('tags', 0, tag)
        end
        batch.emit('added', 'waiting', name, id)
      end
      batch.last = seq
    end

    if not batch.start('seq') then return nil end
    local at, ids, isKnown, runs = 2, {}, {}, {}
    while args[at] do
      local run, last = sharedBy(args[at + 1], args[at + 2]), at + 3 + 2 * args[at + 3]
      if not run or not batch.idsAt(at + 4, last, ids, isKnown) then return nil end
      run.first, run.last, runs[#runs + 1], at = at + 4, last, run, last + 1
    end
    local found = call('HMGET', P .. 'j', unpack(ids))
    for i = 1, #ids do
      if found[i] then return nil end
    end
    for i = 1, #runs do addRun(runs[i]) end
    batch.flush()
    return ''
  end,

  -- ── heartbeat. ARGV and answer as in heartbeat.lua ──

  heartbeat = function()
    local RENEWED, ids, answers = ' token leaseMs started percent text checkpoint ', {}, {}

    local function set(fields, name, value)
      return fields:gsub('\31' .. name .. '=[^\31]*', '') .. (value and '\31' .. name .. '=' .. value or '')
    end

    local function renew(id, text, request)
      local given = {}
      for name, value in request:gmatch('\31(%a+)=([^\31]*)') do
        if not RENEWED:find(' ' .. name .. ' ', 1, true) then return nil end
        given[name] = value
      end
      local head, seq, queue, token, length, holder, stop = text:match(
        '^(r(%d+) %d+ ([^\31]+)\31attempt=%d+\31lease=(%d+) )(%d+) %d+( %d+ [^\31]*)()')
      local rowsAt = token and token == given.token and text:find('\31rows=', stop, true)
      if not rowsAt then return nil end
      local fields, ms, percent, started = text:sub(stop, rowsAt - 1), tonumber(given.leaseMs or length), given.percent, given.started
      if ms % 1 ~= 0 or (given.checkpoint and fields:find('\31apart=', 1, true))
        or (percent and (batch.isHooked(queue) or fields:find('\31hooks=', 1, true))) then return nil end
      if started then
        fields = set(fields, 'startedAt', fields:match('\31startedAt=([^\31]*)') or batch.nowText)
        fields = set(fields, 'pid', started ~= '-' and started)
      end
      if percent then fields = set(fields, 'progress', percent .. ' ' .. batch.nowText .. (given.text and '\30' .. given.text or '')) end
      if given.checkpoint then fields = set(fields, 'checkpoint', given.checkpoint) end
      if percent or started then batch.emit('progress', 'running', queue, id) end
      local to = ('%d'):format(batch.now + ms)
      batch.record(id, head .. ('%d '):format(ms) .. to .. holder .. fields .. text:sub(rowsAt), seq)
      batch.enter('running:' .. queue, to, ('%013x'):format(seq))
      return to .. (fields:find('\31cancelAskedAt=', 1, true) and 'c' or '') .. (fields:find('\31pauseAskedAt=', 1, true) and 'p' or '')
    end

    if #args % 2 == 0 or #args == 1 or not batch.idsAt(2, #args, ids, {}) or not batch.start('token') then return nil end
    local found = call('HMGET', P .. 'j', unpack(ids))
    for i = 1, #ids do
      answers[i] = renew(ids[i], found[i] or '', args[2 * i + 1])
      if not answers[i] then return nil end
    end
    batch.flush()
    return table.concat(answers, '\31')
  end,

  -- ── settle and claim, alone or in one call ──

  -- Settles ARGV from..to and claims by ARGV from `claimAt` on; either may be missing. Returns the states of what was
  -- settled, and the answer to the claim.
  run = function(from, to, claimAt)
    local ids, count, answer, nextAt = {}, (to - from + 1) / 2, nil, nil
    if count % 1 ~= 0 or (claimAt and tonumber(args[claimAt + 2]) > FASTPATH.MAX_JOBS) then return nil end
    if not batch.idsAt(from, to, ids, {}) or not batch.start('token') then return nil end
    ids[count + 1] = '@' .. (claimAt and args[claimAt] or '')
    local found = call('HMGET', P .. 'j', unpack(ids))
    local states = fastpath.settle(ids, found, from)
    if states and claimAt then answer, nextAt = fastpath.claim(claimAt, found[count + 1]) end
    if not states or (claimAt and not answer) then
      tally.clear()
      return nil
    end
    for i = 1, #batch.queues do
      local queue = batch.queues[i]
      for j = 1, #queue.line do
        local entry = queue.line[j]
        if not entry.isTaken then
          batch.seqs[#batch.seqs + 1] = ('%d'):format(entry.seq)
          batch.wait(queue.name, entry, entry.hex)
        end
        if not entry.isTaken or entry.from ~= queue.running.key then batch.leave(entry.from, entry.hex) end
      end
    end
    batch.flush(tally)
    if claimAt then answer[2] = nextAt() end
    return states, answer
  end,

  settle = function(ids, found, from)
    -- Of the job that is being settled: its parts, and the end of the row that its history gets.
    local id, head, seq, createdAt, name, attempt, token, claimedAt, worker, fields, rows, row, data, queue, hex, heap
    local states, known, hasRetried = {}, { [''] = '' }, false
    local KNOWN, DROPPED = KEPT .. 'progress ', ' group message detail startedAt pid '

    -- Whether the job runs under this token, and its history has room.
    local function read(text, given)
      local stop, rowsAt, count, rest, dataAt
      head, seq, createdAt, name, attempt, token, claimedAt, worker, stop = text:match(
        '^r((%d+) (%d+) ([^\31]+))\31attempt=(%d+)\31lease=(%d+) %d+ %d+ (%d+) ([^\31]*)()')
      rowsAt = token and token == given and text:find('\31rows=', stop, true)
      if not rowsAt or batch.isHooked(name) then return false end
      count, rest = text:match('^(%d+)()', rowsAt + 6)
      dataAt, fields, queue, hex = text:find('\31:', rest, true), text:sub(stop, rowsAt - 1), batch.queue(name), ('%013x'):format(seq)
      rows, data = ('\31rows=%d'):format(count + 1) .. text:sub(rest, dataAt - 1) .. '\31+', text:sub(dataAt)
      row = ('%d '):format(batch.now - createdAt) .. attempt .. ' ' .. token .. '\30b' .. worker
      heap = tally.heap(name, worker, fields ~= '' and fields:match('\31tags=([^\31]*)') or '')
      return count + 0 < FASTPATH.MAX_HISTORY - 1
    end

    local function complete(outcome)
      if known[fields] == nil then known[fields] = batch.keep(fields, KNOWN, DROPPED) end
      local kept = known[fields]
      if not kept or (outcome ~= '' and not outcome:find('^\31result=[^\31]*$')) then return nil end
      batch.record(id, 'd' .. head .. '\31attempt=' .. attempt .. '\31endedAt=' .. batch.nowText .. outcome .. kept .. rows
        .. FASTPATH.EVENT.completed .. 'd' .. row .. data, seq)
      batch.enter('done:' .. name, batch.nowText, hex)
      batch.leave(queue.running.key, hex)
      local length, checkpoint = outcome ~= '' and #outcome - 8 or nil, kept ~= '' and kept:match('\31checkpoint=([^\31]*)') or ''
      tally.add(heap, 'r', batch.now - claimedAt)
      tally.keep(name, 'd', #data - 10 + (length or 0) + #checkpoint, length, 1)
      batch.emit('completed', 'done', name, id)
      return 'done'
    end

    -- A failure that leaves a retry: the job comes into line, at once or after its delay.
    local function retry(outcome, event)
      local failure, group, message, delayMs, detail =
        outcome:match('^(\31group=([^\31]*)\31message=([^\31]*))\31delayMs=(%d+)(.*)$')
      if not failure or #message > FASTPATH.MAX_NOTE_LENGTH or (detail ~= '' and not detail:find('^\31detail=[^\31]*$')) then return nil end
      local settings, time, numberIn = batch.settings(queue), batch.now + delayMs, batch.numberIn
      local kept, failures = batch.keep(fields, KNOWN, DROPPED .. 'failures runAt delayMs '), (numberIn(fields, 'failures') or 0) + 1
      if not kept or time > FASTPATH.MAX_TIME or failures > (numberIn(fields, 'retries') or settings.retries)
        or batch.isLimited(settings) then return nil end
      local runAt = time ~= createdAt + 0 and ('\31runAt=%d'):format(time) or ''
      local text = 'w' .. head .. '\31attempt=' .. attempt .. kept .. ('\31failures=%d'):format(failures) .. runAt .. '\31delayMs=' .. delayMs
        .. failure .. detail .. rows .. FASTPATH.EVENT[event] .. 'w' .. row .. '\30n' .. message .. data
      batch.record(id, text, seq)
      queue.line[#queue.line + 1] = {
        id = id, text = text, seq = seq + 0, hex = hex, from = queue.running.key, time = time, priority = numberIn(fields, 'priority') or 0,
      }
      hasRetried = true
      tally.retry(heap, group)
      batch.emit(event, 'waiting', name, id)
      return 'waiting'
    end

    for i = 1, #ids - 1 do
      local kind, given, outcome = args[from + 2 * i - 1]:match('^(%l+)\31token=(%d+)(.*)$')
      if not given or not found[i] or not read(found[i], given) then return nil end
      id = ids[i]
      if kind == 'complete' then
        states[i] = complete(outcome)
      elseif kind == 'fail' or kind == 'retry' then
        states[i] = retry(outcome, kind == 'fail' and 'failed' or 'retried')
      end
      if not states[i] then return nil end
    end
    if hasRetried then tally.part() end -- here the general path writes, since the claim may take what was retried
    return table.concat(states, '\31')
  end,

  -- ARGV from `at`: worker, request id, limit, length of the lease or '' and the resources offered, the queues. `last` is
  -- what the worker claimed last. Returns the answer, and what tells its second part once all is written: the next time
  -- at which time alone makes something claimable.
  claim = function(at, last)
    local worker, requestId, limit, leaseMs = args[at], args[at + 1], tonumber(args[at + 2]), tonumber(args[at + 3]:match('^%S*'))
    local answer, claims, taken, nextTime, unsure = { batch.nowText, '' }, { requestId .. '\30' .. batch.nowText }, 0, math.huge, {}
    local KNOWN, known, now = KEPT .. 'dependents group message detail ', { [''] = '' }, batch.now

    local function soonest(key, from)
      return tonumber(call('ZRANGEBYSCORE', P .. key, from, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]) or math.huge
    end

    -- The soonest end of a lease; and that after this call's settlements, nil if two members of the index do not tell.
    local function leaseEnds(queue)
      local first, left = call('ZRANGE', P .. queue.running.key, 0, 1, 'WITHSCORES'), queue.running.members
      local leaseEnd = tonumber(first[2])
      if #queue.line > 0 or #left > 1 then return leaseEnd, nil end
      return leaseEnd, tonumber(first[#left > 0 and first[1] == left[1] and 4 or 2]) or math.huge
    end

    local function take(queue, line, ms)
      local name, token, entries, to, by = queue.name, batch.last, queue.running.entries, ('%d'):format(now + ms), '\30b' .. worker
      local lease, claimed = (' %d '):format(ms) .. to .. ' ' .. batch.nowText .. ' ' .. worker, '\31+' .. FASTPATH.EVENT.claimed
      for i = 1, #line.ids do
        local id, entry = line.ids[i], line.entries[i]
        local head, seq, createdAt, attempt, fields, count, rows, data = batch.waitingJob(line.texts[i], entry and 'w' or 'f', name)
        if not head or seq + 0 ~= line.seqs[i] + 0 or count >= FASTPATH.MAX_HISTORY - 1 then return false end
        if known[fields] == nil then known[fields] = batch.keep(fields, KNOWN, ' progress ') end
        local kept, since, tags = known[fields], createdAt + 0, ''
        if not kept then return false end
        if kept ~= '' then
          local time = batch.numberIn(kept, 'runAt') or since
          if entry and time ~= entry.time then return false end
          since, tags = math.max(since, time, batch.numberIn(kept, 'freedAt') or 0), kept:match('\31tags=([^\31]*)') or ''
        end
        token = token + 1
        local mark, n, m = ('%d'):format(token), #answer, #entries
        local text = 'r' .. head .. '\31attempt=' .. attempt .. '\31lease=' .. mark .. lease .. kept .. ('\31rows=%d'):format(count + 1) .. rows
          .. claimed .. ('r%d '):format(now - createdAt) .. attempt .. ' ' .. mark .. by .. data
        batch.record(id, text, seq)
        answer[n + 1], answer[n + 2], claims[n], claims[n + 1] = id, text, id, mark
        entries[m + 1], entries[m + 2] = to, ('%013x'):format(seq)
        if entry then entry.isTaken = true end
        if entry and entry.member then batch.leave(entry.from, entry.member) end
        tally.add(tally.heap(name, worker, tags), 'w', now - since)
        batch.emit('claimed', 'running', name, id)
      end
      batch.last, taken = token, taken + #line.ids
      return true
    end

    local function serve(queue)
      local name, settings, room = queue.name, batch.settings(queue), limit - taken
      if settings.state ~= 'up' then return true end
      local ms, needs, leaseEnd, nextEnd = leaseMs or settings.leaseMs, P .. 'needs:' .. name, leaseEnds(queue)
      if batch.isLimited(settings) or ms % 1 ~= 0 or (leaseEnd and leaseEnd <= now) then return false end
      local hasOthers = call('EXISTS', P .. 'ready:' .. name, P .. 'later:' .. name, needs) > 0
      if hasOthers and call('EXISTS', needs) == 1 then return false end
      local line = room > 0 and batch.line(queue, room, hasOthers or #queue.line > 0)
      if room > 0 and not (line and take(queue, line, ms)) then return false end
      if hasOthers then nextTime = math.min(nextTime, soonest('later:' .. name, '(' .. batch.nowText)) end
      for i = 1, #queue.line do
        if queue.line[i].time > now then nextTime = math.min(nextTime, queue.line[i].time) end
      end
      if settings.onLost == 'hold' then return true end
      if not nextEnd then unsure[queue.running.key] = settings.lostGraceMs end
      if room > 0 and #line.ids > 0 then nextTime = math.min(nextTime, now + ms + settings.lostGraceMs) end
      nextTime = math.min(nextTime, (nextEnd or math.huge) + settings.lostGraceMs)
      return true
    end

    if last and last:match('^[^\30\31]*') == requestId then return nil end
    for i = at + 4, #args do
      if not serve(batch.queue(args[i])) then return nil end
    end
    if taken > 0 and not last then return nil end -- maintenance must know of the worker
    local records, n = batch.records, #batch.records
    if taken > 0 then records[n + 1], records[n + 2] = '@' .. worker, table.concat(claims, '\31') end
    return answer, function()
      for key, graceMs in pairs(unsure) do nextTime = math.min(nextTime, soonest(key, '-inf') + graceMs) end
      if nextTime == math.huge then return '' end
      return nextTime % 1 == 0 and ('%d'):format(nextTime) or ('%.17g'):format(nextTime)
    end
  end,
}

