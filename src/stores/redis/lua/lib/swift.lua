-- swift: settle and claim in their everyday case, put before the prelude, which takes longer to be laid out than this
-- to run. Plain jobs that are completed, and plain jobs at the head of a fifo; every lease in time, the clock in order.
-- It says and writes what the prelude would. Whatever it does not know makes it answer nothing, and then it has
-- written nothing: the operation goes its usual way.
--
-- Invariant: nothing is decided here that settle.lua and claim.lua would not decide alike; together.test.ts and the
-- model hold them equal.
-- uses: everyday, statistics, aggregate-log

-- Nobody hears of a claim; but of the end of a job those who wait for it must hear, so `dependents` is not settled here.
local KNOWN = ' name policy retries maxResends onDependencyFailed '
local CLAIMED = KNOWN .. 'dependents '
local SETTLED = KNOWN .. 'parents tags priority runAt delayMs freedAt failures crashes resends interruptions checkpoint progress '
local swift
swift = {
  now = 0, nowText = '', token = 0, clockField = false, lastClaim = false, group = false,
  hooked = false, records = false, seqs = false, queues = false, order = false, events = false, -- what is to be written and told
  memory = false, answer = false, taken = 0, next = 0, watched = false, -- of the claim

  -- Whether a record says no more than what does not change what becomes of the job.
  isKnown = function(fields, names)
    for name in fields:gmatch('\31(%a+)=') do
      if not names:find(' ' .. name .. ' ', 1, true) then return false end
    end
    return true
  end,

  -- The time, if nothing about it is out of the ordinary.
  look = function()
    local now, nowText, token, clockField, hooked = moment('token')
    if not now then return nil end
    swift.now, swift.nowText, swift.token, swift.clockField, swift.hooked = now, nowText, token, clockField, hooked
    return now
  end,

  -- What will be written for one queue.
  queue = function(name)
    local queue = swift.queues[name]
    if not queue then
      queue = { name = name, done = {}, left = {}, running = {}, popped = {} }
      swift.queues[name] = queue
      swift.order[#swift.order + 1] = queue
    end
    return queue
  end,

  emit = function(event, state, queue, id)
    local group = swift.group
    if not group or group[1] ~= event or group[3] ~= queue then
      group = { event, state, queue }
      swift.group, swift.events[#swift.events + 1] = group, group
    end
    group[#group + 1] = id
  end,

  -- ARGV from..to: id and words of each settlement. Answers whether all of them are plain completions under their token.
  settle = function(from, to, worker)
    local ids, tokens, results, known, n = {}, {}, {}, {}, 0
    for at = from, to, 2 do
      local id, token, result = args[at], (args[at + 1] or ''):match('^complete\31token=(%d+)(.*)$')
      if not token or known[id] or (result ~= '' and not result:find('^\31result=[^\31]*$')) then return false end
      n = n + 1
      ids[n], tokens[n], results[n], known[id] = id, token, result, true
    end
    if worker then ids[n + 1] = '@' .. worker end
    ids[#ids + 1] = '+'
    local found = call('HMGET', P .. 'j', unpack(ids))
    swift.lastClaim, statistics.pending = worker and found[n + 1], found[#ids]
    local now, nowText, records, seqs, plain = swift.now, swift.nowText, swift.records, swift.seqs, { [''] = true }
    for i = 1, n do
      local words = found[i]
      if not words then return false end
      local head, seq, createdAt, queue, attempt, token, claimedAt, holder, stop = words:match(
        '^r((%d+) (%d+) ([^\31]+))\31attempt=(%d+)\31lease=(%d+) %d+ %d+ (%d+) ([^\31]*)()')
      local rowsAt = token == tokens[i] and words:find('\31rows=', stop, true)
      if not rowsAt or (swift.hooked and swift.isHooked(queue)) then return false end
      local fields = words:sub(stop, rowsAt - 1)
      local count, rest = words:match('^(%d+)()', rowsAt + 6)
      if plain[fields] == nil then plain[fields] = swift.isKnown(fields, SETTLED) end
      if not plain[fields] or count + 0 >= EVERYDAY.MAX_HISTORY - 1 then return false end
      local dataAt = words:find('\31:', rest, true)
      records[2 * i - 1] = ids[i]
      records[2 * i] = 'd' .. head .. '\31attempt=' .. attempt .. '\31endedAt=' .. nowText .. results[i] .. fields
        .. '\31rows=' .. ('%d'):format(count + 1) .. words:sub(rest, dataAt - 1) .. '\31+od'
        .. ('%d'):format(now - createdAt) .. ' ' .. attempt .. ' ' .. token .. '\30b' .. holder .. words:sub(dataAt)
      seqs[i] = seq
      local into, hex = swift.queue(queue), ('%013x'):format(seq)
      local done, left = into.done, into.left
      done[#done + 1] = nowText
      done[#done + 1], left[#left + 1] = hex, hex
      local tags = fields ~= '' and fields:match('\31tags=([^\31]*)') or ''
      statistics.measure(statistics.group(queue, holder, tags), 'r', now - claimedAt)
      local length = results[i] ~= '' and #results[i] - 8 or nil
      local checkpoint = fields ~= '' and fields:match('\31checkpoint=([^\31]*)') or ''
      statistics.store(queue, 'd', #words - dataAt - 9 + (length or 0) + #checkpoint, length, 1)
      swift.emit('completed', 'done', queue, ids[i])
    end
    return true
  end,

  -- The ids of seqs from a fifo; nothing when one has none.
  idsOf = function(seqs)
    local ids, from, n, PIECE = {}, 1, #seqs, EVERYDAY.PIECE
    while from <= n do
      local piece, fields, to = math.floor(seqs[from] / PIECE), {}, from
      repeat
        fields[to - from + 1] = ('%d'):format(seqs[to] % PIECE)
        to = to + 1
      until to > n or math.floor(seqs[to] / PIECE) ~= piece
      local found = call('HMGET', P .. 's:' .. piece, unpack(fields))
      for i = from, to - 1 do
        local id = found[i - from + 1]
        if not id then return nil end
        ids[i] = id
      end
      from = to
    end
    return ids
  end,

  take = function(queue, worker, ms, limit)
    local seqs = call('LRANGE', P .. 'fifo:' .. queue, 0, limit - 1)
    if #seqs == 0 then return true end
    local ids = swift.idsOf(seqs)
    if not ids then return false end
    local found, plain, into = call('HMGET', P .. 'j', unpack(ids)), { [''] = true }, swift.queue(queue)
    local now, nowText, records, answer, memory = swift.now, swift.nowText, swift.records, swift.answer, swift.memory
    local to = ('%d'):format(now + ms)
    local term, by, running = (' %d '):format(ms) .. to .. ' ' .. nowText .. ' ' .. worker, '\30b' .. worker, into.running
    local n, token, group = #records, swift.token, statistics.group(queue, worker, '')
    for i = 1, #seqs do
      local head, seq, createdAt, home, stop = (found[i] or ''):match('^f((%d+) (%d+) ([^\31]+))()')
      if seq ~= seqs[i] or home ~= queue then return false end
      local dataAt = found[i]:find('\31:', stop, true)
      local fields = found[i]:sub(stop, dataAt - 1)
      if plain[fields] == nil then plain[fields] = swift.isKnown(fields, CLAIMED) end
      if not plain[fields] then return false end
      token = token + 1
      local id, mark = ids[i], ('%d'):format(token)
      local words = 'r' .. head .. '\31attempt=1\31lease=' .. mark .. term .. fields .. '\31rows=1\31+cr'
        .. ('%d'):format(now - createdAt) .. ' 1 ' .. mark .. by .. found[i]:sub(dataAt)
      records[n + 1], records[n + 2] = id, words
      n = n + 2
      answer[#answer + 1] = id
      answer[#answer + 1] = words
      memory[#memory + 1] = id
      memory[#memory + 1] = mark
      running[#running + 1] = to
      running[#running + 1] = ('%013x'):format(seq)
      swift.seqs[#swift.seqs + 1] = seq
      statistics.measure(group, 'w', now - createdAt)
      swift.emit('claimed', 'running', queue, id)
    end
    into.popped, swift.token, swift.taken = seqs, token, swift.taken + #seqs
    return true
  end,

  -- By its own settings, or by those of every queue.
  isHooked = function(queue)
    return swift.hooked:find(' ' .. queue .. ' ', 1, true) or swift.hooked:find(' * ', 1, true)
  end,

  isLimited = function(settings)
    local null, throttles = cjson.null, settings.throttles
    return (settings.maxRunning and settings.maxRunning ~= null) or (settings.keys and settings.keys ~= null)
      or (settings.rate and settings.rate ~= null) or (settings.coalesce and settings.coalesce ~= null)
      or (throttles and #throttles > 0)
      or (settings.hooks and #settings.hooks > 0)
      or (settings.needs and settings.needs ~= '')
  end,

  -- The score of the first member of an index.
  soonest = function(key)
    return tonumber(call('ZRANGE', P .. key, 0, 0, 'WITHSCORES')[2])
  end,

  -- The soonest end of a lease in a queue; and whether it is still the soonest when what was settled has left, as far
  -- as two of them tell: nil for not known.
  leaseEnd = function(queue)
    local first = call('ZRANGE', P .. 'running:' .. queue, 0, 1, 'WITHSCORES')
    local own = swift.queues[queue]
    local left = own and own.left or {}
    if #left == 0 then return tonumber(first[2]), tonumber(first[2]) or math.huge end
    if #left > 1 then return tonumber(first[2]), nil end
    local at = first[1] == left[1] and 4 or 2
    return tonumber(first[2]), tonumber(first[at]) or math.huge
  end,

  -- ARGV from `at`: worker, request id, limit, length of the lease or '' and what is offered, the queues. No job here needs
  -- any of that.
  claim = function(at)
    local worker, requestId, limit, leaseMs = args[at], args[at + 1], tonumber(args[at + 2]), tonumber(args[at + 3]:match('^%S*'))
    local last, earlierAt = swift.lastClaim, swift.lastClaim and swift.lastClaim:find('\30\30', 1, true)
    if last and last:match('^[^\30\31]*') == requestId then return false end
    if earlierAt and last:match('^[^\30\31]*', earlierAt + 2) == requestId then return false end
    swift.memory, swift.answer, swift.taken, swift.next = { requestId .. '\30' .. swift.nowText }, { swift.nowText, '' }, 0, math.huge
    swift.watched = {}
    for i = at + 4, #args do
      if not swift.serve(args[i], worker, leaseMs, limit) then return false end
    end
    if swift.taken > 0 then
      if not swift.lastClaim then return false end
      swift.records[#swift.records + 1] = '@' .. worker
      swift.records[#swift.records + 1] = table.concat(swift.memory, '\31') .. '\30\30' .. last:sub(1, (earlierAt or 0) - 1)
    end
    return true
  end,

  serve = function(queue, worker, leaseMs, limit)
    local settings = settingsOf(queue)
    if settings.state ~= 'up' then return true end
    if swift.isLimited(settings) then return false end
    local leaseEnd, nextEnd = swift.leaseEnd(queue)
    if leaseEnd and leaseEnd <= swift.now then return false end
    local ready, needs = P .. 'ready:' .. queue, P .. 'needs:' .. queue
    if call('EXISTS', ready, P .. 'later:' .. queue, needs) > 0 then
      local runAt = swift.soonest('later:' .. queue)
      if not runAt or runAt <= swift.now or call('EXISTS', ready, needs) > 0 then return false end
      swift.next = math.min(swift.next, runAt)
    end
    local ms, before = leaseMs or settings.leaseMs, swift.taken
    if ms % 1 ~= 0 or (before < limit and not swift.take(queue, worker, ms, limit - before)) then return false end
    if settings.onLost == 'hold' then return true end
    if not nextEnd then
      swift.watched[queue] = settings.lostGraceMs
    else
      if swift.taken > before then nextEnd = math.min(nextEnd, swift.now + ms) end
      swift.next = math.min(swift.next, nextEnd + settings.lostGraceMs)
    end
    return true
  end,

  -- The next time that matters, once all is written.
  nextAt = function()
    local next = swift.next
    for queue, graceMs in pairs(swift.watched) do
      local leaseEnd = swift.soonest('running:' .. queue)
      if leaseEnd then next = math.min(next, leaseEnd + graceMs) end
    end
    if next == math.huge then return '' end
    return next % 1 == 0 and ('%d'):format(next) or ('%.17g'):format(next)
  end,

  -- What a mender must know if this does not come to its end: see work.log.
  log = function()
    local lines = { table.concat(swift.seqs, ' ') }
    for _, queue in ipairs(swift.order) do
      if #queue.popped > 0 then lines[#lines + 1] = 'fifo:' .. queue.name .. '\31' .. table.concat(queue.popped, '\31') end
      if #queue.left > 0 then lines[#lines + 1] = 'running:' .. queue.name .. '\31' .. table.concat(queue.left, '\31') end
    end
    return table.concat(lines, '\30')
  end,

  -- In the order of work.flush: what is under way, records, indexes to enter, indexes to leave, the time.
  flush = function(oldToken)
    local clockField, order = swift.clockField, swift.order
    if #order == 0 then
      if clockField then write('HSET', P, clockField, swift.nowText) end
      return
    end
    if swift.token ~= oldToken then
      write('HSET', P, 'open', swift.log(), 'token', ('%d'):format(swift.token))
    else
      write('HSET', P, 'open', swift.log())
    end
    local isMany = statistics.append(swift.records, swift.nowText)
    write('HSET', P .. 'j', unpack(swift.records))
    if isMany then aggregateLog() end
    for i = 1, #order do
      local queue = order[i]
      if #queue.popped > 0 then write('LTRIM', P .. 'fifo:' .. queue.name, #queue.popped, -1) end
      if #queue.done > 0 then write('ZADD', P .. 'done:' .. queue.name, unpack(queue.done)) end
      if #queue.running > 0 then write('ZADD', P .. 'running:' .. queue.name, unpack(queue.running)) end
    end
    for i = 1, #order do
      local queue = order[i]
      if #queue.left > 0 then write('ZREM', P .. 'running:' .. queue.name, unpack(queue.left)) end
    end
    close(clockField, swift.nowText)
  end,

  -- None of these events is about work, in the sense of work.publish.
  publish = function()
    local events, lines = swift.events, {}
    for i = 1, #events do lines[i] = table.concat(events[i], '\31') end
    if #lines > 0 then call('PUBLISH', P .. 'events', table.concat(lines, '\30')) end
  end,

  -- Settles ARGV from..to and claims what ARGV says from claimAt on; either may be nothing. Answers what was said of
  -- the settlements and what was claimed; nothing at all when it is not for this.
  run = function(from, to, claimAt)
    local count = (to - from + 1) / 2
    local limit = claimAt and tonumber(args[claimAt + 2]) or 0
    if count % 1 ~= 0 or count > EVERYDAY.MOST or limit > EVERYDAY.MOST or (count == 0 and not claimAt) then return nil end
    if not swift.look() then return nil end
    swift.records, swift.seqs, swift.queues, swift.order, swift.events = {}, {}, {}, {}, {}
    local oldToken = swift.token
    if not (swift.settle(from, to, claimAt and args[claimAt]) and (not claimAt or swift.claim(claimAt))) then
      statistics.clear()
      return nil
    end
    swift.flush(oldToken)
    swift.publish()
    if claimAt then swift.answer[2] = swift.nextAt() end
    return count > 0 and 'done' .. ('\31done'):rep(count - 1) or '', swift.answer
  end,
}

