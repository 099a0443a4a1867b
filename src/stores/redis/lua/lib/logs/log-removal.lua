-- log-removal: deletes logs that are kept in the store: with their job, beyond the bytes of their queue, and by retention.
-- uses: values, context, queue-settings, record

local logRemoval = {}

-- Returns the size of a log: the sum of its chunks (stored-logs.lua).
local function sizeOf(key)
  local chunks, size = (call('HGET', key, 'log') or ''):match('^%d+ %d+ %d+ %d+ %d+ %d+ %S+ (%S+)') or '', 0
  for bytes in chunks:gmatch(':(%d+),') do size = size + tonumber(bytes) end
  return size
end

local function remove(queue, member)
  local id, attempt = member:match('^(.*):(%d+)$')
  local key = P .. 'log:' .. member
  write('HINCRBY', P .. 'log-bytes', queue, text(-sizeOf(key)))
  write('DEL', key)
  write('HDEL', P .. 'logs:' .. id, attempt)
  write('ZREM', P .. 'logged:' .. queue, member)
  if call('EXISTS', P .. 'logged:' .. queue) == 0 then write('HDEL', P .. 'log-bytes', queue) end
end

local function bytesOf(queue)
  return number(call('HGET', P .. 'log-bytes', queue))
end

-- Deletes the logs of a deleted job. A store without logs pays for one read.
function logRemoval.removeOf(id)
  if call('EXISTS', P .. 'log-bytes') == 0 then return end
  local logs = call('HGETALL', P .. 'logs:' .. id)
  for i = 1, #logs, 2 do remove(logs[i + 1], id .. ':' .. logs[i]) end
end

-- Deletes the logs that were written least recently, except for one, until the queue is within its bytes.
function logRemoval.evict(queue, limit, own)
  while bytesOf(queue) > limit do
    local oldest = call('ZRANGE', P .. 'logged:' .. queue, 0, 1)
    local member = oldest[1] ~= own and oldest[1] or oldest[2]
    if not member then return end
    remove(queue, member)
  end
end

local function isRunning(member)
  local id, attempt = member:match('^(.*):(%d+)$')
  record.load({ id })
  local job = context.jobs[id]
  return job and job.place == 'r' and number(job.fields.attempt) == tonumber(attempt)
end

-- Applies the retention of logs, except to attempts that run.
function logRemoval.prune(queue, limit)
  local ms, count, bytes = queueSettings.retentionOf(queue, 'logs')
  if not ms and not count and not bytes then return end
  local key = P .. 'logged:' .. queue
  for _, member in ipairs(call('ZRANGE', key, 0, limit - 1)) do
    local isOld = ms and tonumber(call('ZSCORE', key, member)) < context.now - ms
    local isMany = (count and call('ZCARD', key) > count) or (bytes and bytesOf(queue) > bytes)
    if not isOld and not isMany then return end
    if not isRunning(member) then remove(queue, member) end
  end
end

return logRemoval
