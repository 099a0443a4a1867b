-- fastpath: settle and claim for ordinary jobs, alone or in one call. It is the whole of the scripts in lua/fast: they carry and
-- set up nothing of the general path, which takes longer than all of this. fast-add.lua and fast-heartbeat.lua do the same
-- for other calls, batch.lua and waiting-line.lua read and write for them, fast-limits.lua keeps limits.
--
-- A job is ordinary with a name, retries, a priority, tags, a delay, a unique key, throttles that are not full and resources
-- that are free; an attempt outcome when it completes the job or fails with a retry, and no job waits for its slots.
-- The clock is in order, no lease of the queue has expired, and the queue has no limits, keys, resources or webhooks.
--
-- Answers and keys are those of the general path (fast-path.test.ts compares them all).
--
-- Invariant: everything is decided before the first write (batch.flush). A function that meets anything else returns
-- nil or false; then nothing was written, and the operation takes the general path.
-- uses: batch, fast-settings, statistics
-- on demand: fast-limits, waiting-line

-- Names of fields that stay as they are and decide nothing here. A job with any other field takes the general path.
local KEPT = ' name policy retries maxResends onDependencyFailed tags parents priority runAt delayMs freedAt failures crashes resends interruptions checkpoint throttles key needs unique '
local ENDED = ' group message detail startedAt pid slots ' -- go with the attempt or with the failure before it
local ONE_RETRY = { 1, 0, 0 } -- as in statistics.countEnd
local retried, claimed = {}, {} -- by the fields of a job: see fastpath.retriedLike and claimedLike

return {
  -- Settles ARGV from..to and claims by ARGV from `claimAt` on; either may be missing. Returns the states of what was
  -- settled, and the answer to the claim.
  run = function(from, to, claimAt)
    local ids, count, claim = {}, (to - from + 1) / 2, nil
    if count % 1 ~= 0 or (claimAt and tonumber(args[claimAt + 2]) > FASTPATH.MAX_JOBS) then return nil end
    if not batch.idsAt(from, to, ids, {}) or not batch.start('token') then return nil end
    ids[count + 1], ids[count + 2] = '+', claimAt and '@' .. args[claimAt] or nil
    local found = call('HMGET', P .. 'j', unpack(ids))
    batch.statistics, statistics.pending = statistics, found[count + 1]
    local states = count == 0 and '' or fastpath.settle(ids, found, count, from)
    if states and claimAt then claim = fastpath.claim(claimAt, found[count + 2]) end
    if not states or (claimAt and not claim) then return nil end
    for i = 1, #batch.queues do
      if batch.queues[i].line[1] then fastpath.standInLine(batch.queues[i]) end
    end
    if batch.limits then batch.limits.releaseKeys() end
    batch.flush()
    return states, claim and fastpath.answer(claim)
  end,

  -- The limits of a job with such fields, or nil.
  limitsOf = function(fields)
    if not (fields:find('\31throttles=', 1, true) or fields:find('\31unique=', 1, true) or fields:find('\31needs=', 1, true)
      or fields:find('\31slots=', 1, true)) then return nil end
    batch.limits = batch.limits or require('fast-limits')
    return batch.limits.read(fields)
  end,

  -- ── settle ──

  settle = function(ids, found, count, from)
    local measures, now, nowText, states, known, limited = batch.statistics, batch.now, batch.nowText, {}, { [''] = '' }, {}
    local hasRetried, group, size = false, nil, 0
    for i = 1, count do
      local request = args[from + 2 * i - 1]
      local kind, given, outcomeAt = request:match('^(%l+)\31token=(%d+)()')
      local id, text = ids[i], found[i] or ''
      local head, seq, createdAt, name, attempt, token, claimedAt, worker, stop = text:match(
        '^r((%d+) (%d+) ([^\31]+)\31attempt=(%d+))\31lease=(%d+) %d+ %d+ (%d+) ([^\31]*)()')
      local rowsAt = token and token == given and text:find('\31rows=', stop, true)
      if not rowsAt or (batch.hooks and batch.isHooked(name)) then return nil end
      local queue, fields, rowCount, rest = batch.queue(name), text:sub(stop, rowsAt - 1), text:match('^(%d+)()', rowsAt + 6)
      local dataAt, hex = text:find('\31:', rest, true), ('%013x'):format(seq)
      if rowCount + 0 >= FASTPATH.MAX_HISTORY - 1 then return nil end
      local rows, data, row = text:sub(rest, dataAt - 1), text:sub(dataAt), ('%d '):format(now - createdAt)
      local measured = measures.group(name, worker, fields ~= '' and fields:match('\31tags=([^\31]*)') or '')
      if kind == 'complete' then
        local kept, left, done, outcome = known[fields], queue.left, queue.done, request:sub(outcomeAt)
        if kept == nil then
          kept = batch.keep(fields, KEPT .. 'progress ', ENDED)
          known[fields], limited[fields] = kept, fastpath.limitsOf(fields)
        end
        if not kept or (outcome ~= '' and not outcome:find('^\31result=[^\31]*$')) then return nil end
        if limited[fields] and not batch.limits.finish(limited[fields], name, id, hex, true) then return nil end
        batch.record(id, 'd' .. head .. '\31endedAt=' .. nowText .. outcome .. kept .. '\31rows=' .. ('%d'):format(rowCount + 1) .. rows
          .. '\31+' .. FASTPATH.COMPLETED .. 'd' .. row .. attempt .. ' ' .. token .. '\30b' .. worker .. data, seq)
        local n = #left
        left[n + 1], done[2 * n + 1], done[2 * n + 2], states[i] = hex, nowText, hex, 'done'
        local length, checkpoint = outcome ~= '' and #outcome - 8 or nil, kept ~= '' and kept:match('\31checkpoint=([^\31]*)') or ''
        measures.measure(measured, 'r', now - claimedAt)
        measures.store(name, 'd', #data - 10 + (length or 0) + #checkpoint, length, 1)
        if group and group[3] ~= name then group = nil end
        if group then group[size + 1], size = id, size + 1 else group, size = batch.emit('completed', 'done', name, id) end
      else
        local job = { id = id, seq = seq, hex = hex, queue = queue, head = head, createdAt = createdAt, fields = fields, measured = measured }
        job.rows, job.row = ('\31rows=%d'):format(rowCount + 1) .. rows, row .. attempt .. ' ' .. token .. '\30b' .. worker
        job.data, group = data, nil
        if not fastpath.retry(job, kind, request, outcomeAt) then return nil end
        states[i], hasRetried = 'waiting', true
      end
    end
    if hasRetried then measures.part() end -- here the general path writes, since the claim may take what was retried
    return table.concat(states, '\31')
  end,

  -- What a job with such fields becomes by a retry; false if the fast path cannot tell.
  retriedLike = function(fields)
    local like = retried[fields]
    if like ~= nil then return like end
    local kept, numberIn = batch.keep(fields, KEPT .. 'progress ', ENDED .. 'failures runAt delayMs '), batch.numberIn
    if kept then
      local failures = (numberIn(fields, 'failures') or 0) + 1
      like = { text = kept .. ('\31failures=%d'):format(failures), failures = failures, retries = numberIn(fields, 'retries'),
        priority = numberIn(fields, 'priority') or 0, limits = fastpath.limitsOf(fields) }
    end
    retried[fields] = like or false
    return retried[fields]
  end,

  -- A failure that leaves a retry: the job comes into line, at once or after its delay. `at`: where the outcome begins in the
  -- request. Returns whether it is one.
  retry = function(job, kind, request, at)
    local event = kind == 'fail' and 'failed' or kind == 'retry' and 'retried'
    local failure, group, message, delayMs, detail =
      request:match('^(\31group=([^\31]*)\31message=([^\31]*))\31delayMs=(%d+)(.*)$', at)
    if not event or not failure or #message > FASTPATH.MAX_NOTE_LENGTH
      or (detail ~= '' and not detail:find('^\31detail=[^\31]*$')) then return false end
    local queue, time, like = job.queue, batch.now + delayMs, fastpath.retriedLike(job.fields)
    local settings = batch.settings(queue)
    if not like or time > FASTPATH.MAX_TIME or like.failures > (like.retries or settings.retries)
      or fastSettings.isLimited(settings) then return false end
    if like.limits and not batch.limits.finish(like.limits, queue.name, job.id, job.hex, false) then return false end
    local runAt = time ~= job.createdAt + 0 and ('\31runAt=%d'):format(time) or ''
    job.text = 'w' .. job.head .. like.text .. runAt .. '\31delayMs=' .. delayMs .. failure .. detail
      .. job.rows .. '\31+' .. (kind == 'fail' and FASTPATH.FAILED or FASTPATH.RETRIED) .. 'w' .. job.row .. '\30n' .. message .. job.data
    batch.record(job.id, job.text, job.seq)
    job.from, job.time, job.priority, job.seq = 'running:' .. queue.name, time, like.priority, job.seq + 0
    queue.line[#queue.line + 1] = job
    batch.statistics.countEnd(job.measured, ONE_RETRY, group)
    batch.emit(event, 'waiting', queue.name, job.id)
    return true
  end,

  -- The jobs that came into line leave where they were, and stand there unless they were taken.
  standInLine = function(queue)
    local running = 'running:' .. queue.name
    for i = 1, #queue.line do
      local job = queue.line[i]
      if not job.isTaken then
        batch.seqs[#batch.seqs + 1] = ('%d'):format(job.seq)
        batch.wait(queue.name, job, job.hex)
      end
      if not job.isTaken or job.from ~= running then batch.leave(job.from, job.hex) end
    end
  end,

  -- ── claim ──

  -- ARGV from `at`: worker, request id, limit, length of the lease or '' and the resources offered, the queues. `last` has
  -- the last two claims of the worker.
  claim = function(at, last)
    local worker, requestId, nowText = args[at], args[at + 1], batch.nowText
    local earlierAt = last and last:find('\30\30', 1, true)
    if last and last:match('^[^\30\31]*') == requestId then return nil end
    if earlierAt and last:match('^[^\30\31]*', earlierAt + 2) == requestId then return nil end
    local claim = {
      worker = worker, limit = tonumber(args[at + 2]), leaseMs = tonumber(args[at + 3]:match('^%S*')), taken = 0,
      capacity = args[at + 3], room = false, -- the resources of the worker, and those that are free
      answer = { nowText, '' }, claims = { requestId .. '\30' .. nowText }, nextAt = math.huge, unsure = {},
    }
    for i = at + 4, #args do
      if not fastpath.serve(claim, batch.queue(args[i])) then return nil end
    end
    if claim.taken == 0 then return claim end
    local records, n = batch.records, 2 * batch.count
    local earlier = last and '\30\30' .. last:sub(1, (earlierAt or 0) - 1) or ''
    records[n + 1], records[n + 2] = '@' .. worker, table.concat(claim.claims, '\31') .. earlier
    return last and claim -- maintenance must know of a worker that claims for the first time
  end,

  serve = function(claim, queue)
    local name, settings, now, before, line = queue.name, batch.settings(queue), batch.now, claim.taken, queue.line
    if queue.isServed then return false end
    queue.isServed = true
    if settings.state ~= 'up' then return true end
    local ms, needs, leaseEnd, nextEnd = claim.leaseMs or settings.leaseMs, P .. 'needs:' .. name, fastpath.leaseEnds(queue)
    if fastSettings.isLimited(settings) or ms % 1 ~= 0 or (leaseEnd and leaseEnd <= now) then return false end
    local hasOthers = call('EXISTS', P .. 'ready:' .. name, P .. 'later:' .. name, needs) > 0
    if hasOthers and call('EXISTS', needs) == 1 then return false end
    if before < claim.limit then
      local jobs = require('waiting-line').first(queue, claim.limit - before, hasOthers or line[1] ~= nil)
      if not jobs or not fastpath.take(claim, queue, jobs, ms) then return false end
    end
    local nextAt = hasOthers and fastpath.soonest('later:' .. name, '(' .. batch.nowText) or math.huge
    for i = 1, #line do
      if line[i].time > now then nextAt = math.min(nextAt, line[i].time) end
    end
    if settings.onLost ~= 'hold' then
      if not nextEnd then claim.unsure['running:' .. name] = settings.lostGraceMs end
      nextEnd = math.min(nextEnd or math.huge, claim.taken > before and now + ms or math.huge)
      nextAt = math.min(nextAt, nextEnd + settings.lostGraceMs)
    end
    claim.nextAt = math.min(claim.nextAt, nextAt)
    return true
  end,

  -- The soonest end of a lease; and that after this call's settlements, nil if two members of the index do not tell.
  leaseEnds = function(queue)
    local first, left = call('ZRANGE', P .. 'running:' .. queue.name, '0', '1', 'WITHSCORES'), queue.left
    if queue.line[1] or left[2] then return tonumber(first[2]), nil end
    return tonumber(first[2]), tonumber(first[left[1] and first[1] == left[1] and 4 or 2]) or math.huge
  end,

  soonest = function(key, from)
    return tonumber(call('ZRANGEBYSCORE', P .. key, from, '+inf', 'WITHSCORES', 'LIMIT', '0', '1')[2]) or math.huge
  end,

  -- What a job with such fields keeps when it is claimed; false if the fast path cannot tell.
  claimedLike = function(fields)
    local like = claimed[fields]
    if like ~= nil then return like end
    local kept = batch.keep(fields, KEPT .. 'dependents group message detail ', ' progress ')
    like = kept and { kept = kept, runAt = batch.numberIn(kept, 'runAt'), freedAt = batch.numberIn(kept, 'freedAt') or 0,
      tags = kept:match('\31tags=([^\31]*)') or '', limits = fastpath.limitsOf(fields) }
    claimed[fields] = like
    return like
  end,

  take = function(claim, queue, jobs, ms)
    local name, now, worker, answer, claims, running = queue.name, batch.now, claim.worker, claim.answer, claim.claims, queue.running
    local to, token, n, m = ('%d'):format(now + ms), batch.last, #answer, 0
    local lease, row = (' %d '):format(ms) .. to .. ' ' .. batch.nowText .. ' ' .. worker, '\31+' .. FASTPATH.CLAIMED .. 'r'
    local ids, texts, seqs, entries, group, size = jobs.ids, jobs.texts, jobs.seqs, jobs.entries, nil, 0
    local read, measures = require('waiting-line').read, batch.statistics
    for i = 1, #ids do
      local id, entry = ids[i], entries[i]
      local head, seq, createdAt, attempt, fields, count, rows, data = read(texts[i], name, entry)
      if not head or seq ~= seqs[i] or count >= FASTPATH.MAX_HISTORY - 1 then return false end
      local like, slots, hex = fastpath.claimedLike(fields), '', ('%013x'):format(seq)
      if not like then return false end
      local time = like.runAt or createdAt + 0
      if entry and time ~= entry.time then return false end
      if like.limits then slots = batch.limits.start(like.limits, claim, name, id, hex) end
      -- What a retried job has freed in this call, it cannot take again: batch.flush adds before it removes.
      if slots == nil or (slots ~= '' and entry and entry.from == 'running:' .. name) then return false end
      token = token + 1
      local mark = ('%d'):format(token)
      local text = 'r' .. head .. '\31attempt=' .. attempt .. '\31lease=' .. mark .. lease .. like.kept .. slots .. '\31rows=' .. ('%d'):format(count + 1)
        .. rows .. row .. ('%d '):format(now - createdAt) .. attempt .. ' ' .. mark .. '\30b' .. worker .. data
      batch.record(id, text, seq)
      answer[n + 1], answer[n + 2], claims[n], claims[n + 1], n = id, text, id, mark, n + 2
      running[m + 1], running[m + 2], m = to, hex, m + 2
      if entry then entry.isTaken = true end
      if entry and entry.member then batch.leave(entry.from, entry.member) end
      measures.measure(measures.group(name, worker, like.tags), 'w', now - math.max(createdAt, time, like.freedAt))
      if group then group[size + 1], size = id, size + 1 else group, size = batch.emit('claimed', 'running', name, id) end
    end
    batch.last, claim.taken = token, claim.taken + #ids
    return true
  end,

  -- The answer, with the next time at which time alone makes something claimable, once all is written.
  answer = function(claim)
    local nextAt = claim.nextAt
    for key, graceMs in pairs(claim.unsure) do nextAt = math.min(nextAt, fastpath.soonest(key, '-inf') + graceMs) end
    if nextAt < math.huge then claim.answer[2] = nextAt % 1 == 0 and ('%d'):format(nextAt) or ('%.17g'):format(nextAt) end
    return claim.answer
  end,
}

