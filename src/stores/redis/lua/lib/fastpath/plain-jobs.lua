-- plain-jobs: a claim, alone or with settlements, all for plain jobs of one queue: what a busy worker sends again and again, and
-- what an idle one has waiting at the server. It restates fastpath.lua in one function, because tables and functions that are
-- set up in every call take longer than such a job.
--
-- All jobs are of the queue that is claimed, and of one worker and the same tags; they have no field but those of PLAIN;
-- each is complete. No job waits but those in the fifo.
--
-- Invariant: everything is decided before the first write. It returns nil for anything else; then nothing was written, and
-- fastpath.lua decides.
-- uses: fast-settings
-- on demand: spread

-- Names of fields that stay as they are and decide nothing here.
local PLAIN = ' name policy retries maxResends onDependencyFailed tags '

-- Returns whether there are only such fields.
local function isPlain(fields)
  for name in fields:gmatch('\31(%a+)=') do
    if not PLAIN:find(' ' .. name .. ' ', 1, true) then return false end
  end
  return true
end

return {
  -- Settles `count` jobs and claims by ARGV from `at` on. ARGV and answer as in operation.inSequence, and as in
  -- operations/claim.lua where nothing is settled. Returns also whether the log of statistics is long.
  run = function(count, at)
    local clock = args[1]
    local worker, requestId, limit, queue = args[at], args[at + 1], tonumber(args[at + 2]), args[at + 4]
    if count % 1 ~= 0 or count > FASTPATH.MAX_JOBS or limit > FASTPATH.MAX_JOBS or not queue or args[at + 5] then return nil end
    if call('EXISTS', P .. 'ready:' .. queue, P .. 'later:' .. queue, P .. 'needs:' .. queue) > 0 then return nil end

    -- The clock and the state of the store, as in batch.start.
    local stored = call('HMGET', P, 'seen', 'high', 'token', 'open', 'closed', 'step', 'hooks')
    for i = 4, 7 do
      if stored[i] and stored[i] ~= '' then return nil end
    end
    local now, seen = tonumber(clock:match('^guarded (%d+)$')), tonumber(stored[1]) or 0
    if clock == 'store' then
      local time = call('TIME')
      now = time[1] * 1000 + math.floor(time[2] / 1000)
    end
    if not now or now < seen or now < (tonumber(stored[2]) or 0) or now > FASTPATH.MAX_TIME then return nil end
    if seen > 0 and now - seen > FASTPATH.GAP_MS then return nil end

    -- The jobs to settle, the number of entries in the log of statistics, and the last two claims of the worker.
    local ids, isKnown = {}, { [''] = true }
    for i = 1, count do
      local id = args[1 + 2 * i]
      if isKnown[id] then return nil end
      ids[i], isKnown[id] = id, true
    end
    ids[count + 1], ids[count + 2] = '+', '@' .. worker
    local found = call('HMGET', P .. 'j', unpack(ids))
    local entries, last = found[count + 1], found[count + 2]
    local earlierAt = last and last:find('\30\30', 1, true)
    if not last or last:match('^[^\30\31]*') == requestId then return nil end
    if earlierAt and last:match('^[^\30\31]*', earlierAt + 2) == requestId then return nil end

    -- settle
    local nowText, tags, bytes, results, resultBytes = ('%d'):format(now), nil, 0, 0, 0
    local records, seqs, done, left, runs = {}, {}, {}, {}, {}
    local ended = '\31endedAt=' .. nowText
    local lastCreatedAt, age, ageText, lastClaimedAt, run -- of the job before: jobs that were added or claimed together share them
    for i = 1, count do
      local id, text = ids[i], found[i] or ''
      local given, outcome = args[2 + 2 * i]:match('^complete\31token=(%d+)(.*)$')
      local head, seq, createdAt, name, attempt, token, claimedAt, holder, stop = text:match(
        '^r((%d+) (%d+) ([^\31]+)\31attempt=(%d+))\31lease=(%d+) %d+ %d+ (%d+) ([^\31]*)()')
      if not given or token ~= given or name ~= queue or holder ~= worker then return nil end
      local rowsAt, fields = text:find('\31rows=', stop, true), ''
      if not rowsAt then return nil end
      if rowsAt > stop then
        fields = text:sub(stop, rowsAt - 1)
        if not isKnown[fields] and not isPlain(fields) then return nil end
        isKnown[fields] = true
      end
      local ownTags = fields ~= '' and fields:match('\31tags=([^\31]*)') or ''
      tags = tags or ownTags
      if ownTags ~= tags or (outcome ~= '' and not outcome:find('^\31result=[^\31]*$')) then return nil end
      local rowCount, rest = text:match('^(%d+)()', rowsAt + 6)
      if rowCount ~= '1' and rowCount + 0 >= FASTPATH.MAX_HISTORY - 1 then return nil end
      if createdAt ~= lastCreatedAt then
        lastCreatedAt, age = createdAt, now - createdAt
        ageText = ('%d '):format(age)
      end
      if claimedAt ~= lastClaimedAt then lastClaimedAt, run = claimedAt, math.max(0, now - claimedAt) end
      local dataAt, hex = text:find('\31:', rest, true), ('%013x'):format(seq)
      records[2 * i - 1], records[2 * i] = id, 'd' .. head .. ended .. outcome .. fields
        .. (rowCount == '1' and '\31rows=2' or ('\31rows=%d'):format(rowCount + 1)) .. text:sub(rest, dataAt - 1)
        .. '\31+' .. FASTPATH.COMPLETED .. 'd' .. ageText .. attempt .. ' ' .. token .. '\30b' .. worker
        .. text:sub(dataAt)
      seqs[i], left[i], done[2 * i - 1], done[2 * i] = seq, hex, nowText, hex
      runs[i], bytes = run, bytes + #text - dataAt - 9
      if outcome ~= '' then bytes, results, resultBytes = bytes + #outcome - 8, results + 1, resultBytes + #outcome - 8 end
    end

    -- claim
    local settings, ms = fastSettings.of(queue), args[at + 3]
    ms = ms ~= '' and tonumber(ms:match('^%S*')) or settings.leaseMs
    if settings.state ~= 'up' or fastSettings.isLimited(settings) or ms % 1 ~= 0 then return nil end
    local running = P .. 'running:' .. queue
    local first = call('ZRANGE', running, '0', '1', 'WITHSCORES')
    if first[2] and first[2] + 0 <= now then return nil end
    local popped = limit > 0 and call('LRANGE', P .. 'fifo:' .. queue, '0', ('%d'):format(limit - 1)) or {}
    local taken, numbers, claimedIds, texts, waits, started = #popped, {}, {}, {}, {}, {}
    for i = 1, taken do numbers[i] = popped[i] + 0 end
    local from, PIECE, floor = 1, FASTPATH.SEQS_PER_PIECE, math.floor
    while from <= taken do -- as in pieces.lua
      local piece, fields, to = floor(numbers[from] / PIECE), {}, from
      repeat
        fields[to - from + 1] = ('%d'):format(numbers[to] % PIECE)
        to = to + 1
      until to > taken or floor(numbers[to] / PIECE) ~= piece
      local part = call('HMGET', P .. ('s:%d'):format(piece), unpack(fields))
      for i = from, to - 1 do
        if not part[i - from + 1] then return nil end
        claimedIds[i] = part[i - from + 1]
      end
      from = to
    end
    if taken > 0 then texts = call('HMGET', P .. 'j', unpack(claimedIds)) end
    local token, leaseEnd, n = tonumber(stored[3]) or 0, ('%d'):format(now + ms), 2 * count
    local answer, claims = { '', nowText, '' }, { requestId .. '\30' .. nowText }
    local lease = (' %d '):format(ms) .. leaseEnd .. ' ' .. nowText .. ' ' .. worker
    local row = '\31+' .. FASTPATH.CLAIMED .. 'r'
    for i = 1, taken do
      local id, text, seq = claimedIds[i], texts[i] or '', popped[i]
      local head, ownSeq, createdAt, name, stop = text:match('^f((%d+) (%d+) ([^\31]+))()')
      if name ~= queue or ownSeq ~= seq or text:find('\31rows=', stop, true) then return nil end
      local dataAt, fields = text:find('\31:', stop, true), ''
      if dataAt > stop then
        fields = text:sub(stop, dataAt - 1)
        if not isKnown[fields] and not isPlain(fields) then return nil end
        isKnown[fields] = true
      end
      local ownTags = fields ~= '' and fields:match('\31tags=([^\31]*)') or ''
      tags = tags or ownTags
      if ownTags ~= tags then return nil end
      token = token + 1
      if createdAt ~= lastCreatedAt then
        lastCreatedAt, age = createdAt, now - createdAt
        ageText = ('%d '):format(age)
      end
      local mark, hex = ('%d'):format(token), ('%013x'):format(numbers[i])
      text = 'r' .. head .. '\31attempt=1\31lease=' .. mark .. lease .. fields .. '\31rows=1' .. row .. ageText .. '1 ' .. mark
        .. '\30b' .. worker .. text:sub(dataAt)
      records[n + 1], records[n + 2], seqs[count + i], n = id, text, seq, n + 2
      answer[2 * i + 2], answer[2 * i + 3], claims[2 * i], claims[2 * i + 1] = id, text, id, mark
      started[2 * i - 1], started[2 * i], waits[i] = leaseEnd, hex, math.max(0, age)
    end
    if taken > 0 then
      records[n + 1], records[n + 2], n = '@' .. worker, table.concat(claims, '\31') .. '\30\30' .. last:sub(1, (earlierAt or 0) - 1), n + 2
    end

    local number = entries or 0
    if count + taken == 0 then
      if now ~= seen then write('HSET', P, 'seen', nowText) end
    else
      -- statistics: one entry
      local spread = count == 0 and '\31' or '\31' .. (count > 1 and require('spread').textOf(runs, count) or ('%d'):format(runs[1]))
      if taken > 0 then spread = (taken > 1 and require('spread').textOf(waits, taken) or ('%d'):format(waits[1])) .. spread end
      number = number + 1
      local numberText = ('%d'):format(number)
      records[n + 1], records[n + 2], records[n + 3], records[n + 4] = '+' .. numberText, queue .. '\31' .. worker .. '\31' .. tags .. '\31' .. nowText
        .. (count > 0 and ('\31%d 0 0 %d %d\31'):format(bytes, results, resultBytes) or '\31\31') .. spread .. '\31', '+', numberText

      -- The writes of batch.flush.
      local open = table.concat(seqs, ' ') .. (taken > 0 and '\30fifo:' .. queue .. '\31' .. table.concat(popped, '\31') or '')
      if count > 0 then open = open .. '\30running:' .. queue .. '\31' .. table.concat(left, '\31') end
      if taken > 0 then write('HSET', P, 'open', open, 'token', ('%d'):format(token)) else write('HSET', P, 'open', open) end
      write('HSET', P .. 'j', unpack(records)) -- in one, so that all of it is done or none
      if taken > 0 then write('LTRIM', P .. 'fifo:' .. queue, ('%d'):format(taken), '-1') end
      if count > 0 then write('ZADD', P .. 'done:' .. queue, unpack(done)) end
      if taken > 0 then write('ZADD', running, unpack(started)) end
      if count > 0 then write('ZREM', running, unpack(left)) end
      if now ~= seen then write('HSET', P, 'open', '', 'seen', nowText) else write('HSET', P, 'open', '') end
      ids[count + 1], ids[count + 2] = nil, nil
      local completed = count > 0 and 'completed\31done\31' .. queue .. '\31' .. table.concat(ids, '\31') or ''
      local claimed = taken > 0 and 'claimed\31running\31' .. queue .. '\31' .. table.concat(claimedIds, '\31') or ''
      call('PUBLISH', P .. 'events', completed .. (count > 0 and taken > 0 and '\30' or '') .. claimed)
    end

    -- The answer, with the next time at which time alone makes something claimable.
    if settings.onLost ~= 'hold' then
      local nextEnd
      if count > 1 then nextEnd = call('ZRANGE', running, '0', '0', 'WITHSCORES')[2]
      else nextEnd = first[first[1] == left[1] and 4 or 2] end
      nextEnd = math.min(tonumber(nextEnd) or math.huge, taken > 0 and now + ms or math.huge) + settings.lostGraceMs
      if nextEnd < math.huge then answer[3] = nextEnd % 1 == 0 and ('%d'):format(nextEnd) or ('%.17g'):format(nextEnd) end
    end
    if count > 0 then answer[1] = ('done\31'):rep(count - 1) .. 'done' else table.remove(answer, 1) end
    return answer, count + taken > 0 and number > FASTPATH.MAX_LOG_ENTRIES
  end,
}
