-- stored-logs: the log of an attempt, complete up to a limit, then head, mark and tail (core/job/stored-log.ts).
--
-- log:<id>:<attempt> is a hash: chunks of text by their number, and `log`, what is known of it: bytes received, head, mark,
-- bytes and lines dropped, generation, queue, its chunks as number:size, and its gaps as from-to-offset.
--
-- Invariant: a chunk and `log` are written in one command, so a call that is cut short adds all of its output or nothing.
-- uses: values, context, queue-settings
-- on demand: log-removal

local storedLogs = {}
local HEAD_SHARE, MAX_GAPS, CHUNK_BYTES = 0.25, 100, 16384

local function keyOf(id, attempt)
  return P .. 'log:' .. id .. ':' .. attempt
end

local function emptyLog(queue)
  return { received = 0, head = 0, mark = 0, dropped = 0, lines = 0, generation = 0, queue = queue, chunks = {}, size = 0, gaps = '' }
end

-- Returns what is known of a log, or nil.
function storedLogs.read(id, attempt)
  local found = call('HGET', keyOf(id, attempt), 'log')
  if not found then return nil end
  local received, head, mark, dropped, lines, generation, queue, chunks, gaps =
    found:match('^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%S+) (%S+) (.*)$')
  local log = emptyLog(queue)
  log.received, log.head, log.mark = tonumber(received), tonumber(head), tonumber(mark)
  log.dropped, log.lines, log.generation, log.gaps = tonumber(dropped), tonumber(lines), tonumber(generation), gaps
  for name, size in chunks:gmatch('(%d+):(%d+),') do
    log.chunks[#log.chunks + 1] = { name = tonumber(name), size = tonumber(size) }
    log.size = log.size + tonumber(size)
  end
  return log
end

local function encoded(log)
  local numbers, chunks = { log.received, log.head, log.mark, log.dropped, log.lines, log.generation }, {}
  for i = 1, #numbers do numbers[i] = text(numbers[i]) end
  for i, chunk in ipairs(log.chunks) do chunks[i] = ('%d:%d,'):format(chunk.name, chunk.size) end
  return table.concat(numbers, ' ') .. ' ' .. log.queue .. ' ' .. table.concat(chunks) .. ' ' .. log.gaps
end

-- Returns the bytes of a log from one offset up to another.
function storedLogs.bytes(id, attempt, log, from, to)
  local parts, start = {}, 0
  for _, chunk in ipairs(log.chunks) do
    if start < to and start + chunk.size > from then
      local whole = call('HGET', keyOf(id, attempt), text(chunk.name)) or ''
      parts[#parts + 1] = whole:sub(math.max(0, from - start) + 1, to - start)
    end
    start = start + chunk.size
  end
  return table.concat(parts)
end

local function isContinued(byte)
  return byte and byte >= 0x80 and byte < 0xC0
end

-- Returns how many bytes come before the first character from a place on.
local function characterAt(body, at)
  while isContinued(body:byte(at + 1)) do at = at + 1 end
  return at
end

local function lineEndBefore(body, at)
  local lines = body:sub(1, at):match('^.*\n')
  return lines and #lines or characterAt(body, at)
end

local function lineStartFrom(body, at)
  if at == 0 or body:sub(at, at) == '\n' then return at end
  local found = body:find('\n', at + 1, true)
  return found and found < #body and found or characterAt(body, at)
end

-- Puts a mark behind the head. Returns the head with the mark, and the tail.
local function withMark(log, head, removed, missing, tail)
  local _, lines = removed:gsub('\n', '')
  log.dropped, log.lines = log.dropped + #removed + missing, log.lines + lines
  local start = head ~= '' and head:sub(-1) ~= '\n' and '\n' or ''
  local mark = ('%s[longhaul: %s bytes and %s lines of output are missing here]\n'):format(start, text(log.dropped), text(log.lines))
  log.head, log.mark, log.generation = #head, #mark, log.generation + 1
  return head .. mark, tail
end

local function cut(log, body, limit)
  local head = log.dropped > 0 and log.head or lineEndBefore(body, math.floor(limit * HEAD_SHARE))
  local from = head + log.mark
  local at = lineStartFrom(body, math.max(from, #body - math.floor((limit - head) / 2)))
  return withMark(log, body:sub(1, head), body:sub(from + 1, at), 0, body:sub(at + 1))
end

-- Output between what was received and the offset never arrived.
local function withHole(log, body, offset)
  local kept = log.dropped > 0 and log.head or #body
  local missing = offset - log.received
  log.received = offset
  return (withMark(log, body:sub(1, kept), body:sub(kept + log.mark + 1), missing, ''))
end

-- Replaces all chunks: written together with what is known of the log. Those that are left over are deleted after that.
local function rewrite(key, log, head, tail)
  local last = #log.chunks > 0 and log.chunks[#log.chunks].name or 0
  local old = log.chunks
  log.chunks, log.size = { { name = last + 1, size = #head }, { name = last + 2, size = #tail } }, #head + #tail
  write('HSET', key, text(last + 1), head, text(last + 2), tail, 'log', encoded(log))
  for _, chunk in ipairs(old) do write('HDEL', key, text(chunk.name)) end
end

-- Adds text at the end: to the last chunk while that is short.
local function extend(key, log, fresh)
  local last = log.chunks[#log.chunks]
  if last and last.size + #fresh <= CHUNK_BYTES then
    fresh = call('HGET', key, text(last.name)) .. fresh
    log.size = log.size - last.size
  else
    last = { name = last and last.name + 1 or 1 }
    log.chunks[#log.chunks + 1] = last
  end
  last.size, log.size = #fresh, log.size + #fresh
  write('HSET', key, text(last.name), fresh, 'log', encoded(log))
end

local function addGap(log, gap)
  log.gaps = log.gaps .. gap .. '-' .. text(log.size) .. ','
  local _, count = log.gaps:gsub(',', '')
  if count > MAX_GAPS then log.gaps = log.gaps:gsub('^[^,]*,', '', 1) end
end

-- The index of the logs of a job and of its queue, written before the log itself.
local function enter(id, attempt, queue, at)
  write('HSET', P .. 'logs:' .. id, attempt, queue)
  write('ZADD', P .. 'logged:' .. queue, at, id .. ':' .. attempt)
end

-- Appends output to the log of a running job. Returns how much of its output the store has.
function storedLogs.append(job, offset, added, gap)
  local id, attempt = job.id, text(number(job.fields.attempt))
  local key, log = keyOf(id, attempt), storedLogs.read(id, attempt) or emptyLog(job.queue)
  if offset + #added <= log.received then return log.received end
  local settings, size = queueSettings.settingsOf(log.queue).storedLogs, log.size
  local limit = math.min(settings.attempt, settings.queue)
  enter(id, attempt, log.queue, context.nowText)
  if offset > log.received then
    rewrite(key, log, withHole(log, storedLogs.bytes(id, attempt, log, 0, log.size), offset), '')
  end
  local fresh = added:sub(log.received - offset + 1)
  if gap then addGap(log, gap) end
  log.received = log.received + #fresh
  if log.size + #fresh > limit then
    rewrite(key, log, cut(log, storedLogs.bytes(id, attempt, log, 0, log.size) .. fresh, limit))
  else
    extend(key, log, fresh)
  end
  write('HINCRBY', P .. 'log-bytes', log.queue, text(log.size - size))
  require('log-removal').evict(log.queue, settings.queue, id .. ':' .. attempt)
  return log.received
end

-- Writes the log of an attempt as another store had it.
function storedLogs.restore(id, attempt, queue, at, body)
  local log = emptyLog(queue)
  log.received = #body
  enter(id, attempt, queue, at)
  extend(keyOf(id, attempt), log, body)
  write('HINCRBY', P .. 'log-bytes', queue, text(log.size))
end

return storedLogs
