/**
 * Lua texts that take entries out of the queues of another system, at most ARGV[6] of them, and return how many. They run
 * in the source after the beginning of held-entries.ts, which gives them `hold` and `now`.
 *
 * Invariant: an entry is removed from its queue and held in the same step.
 */

/** Worqr: lists without ids; tasks leave at the tail. ARGV[7]: the beginning of their keys; then names of queues. */
export const TAKE_WORQR = `
local limit, taken = tonumber(ARGV[6]), 0
for at = 8, #ARGV do
  while taken < limit do
    local task = redis.call('RPOP', ARGV[7] .. ARGV[at])
    if not task then break end
    hold({ queue = ARGV[at], task = task })
    taken = taken + 1
  end
end
return taken`;

/** Blueque: a list of pending ids and a sorted set of scheduled ones. The hash of a task stays, as reserved by Longhaul. */
export const TAKE_BLUEQUE = `
local limit, taken = tonumber(ARGV[6]), 0
local function take(id, queue)
  local key, fields = 'blueque_task_' .. id, {}
  local flat = redis.call('HGETALL', key)
  for at = 1, #flat, 2 do fields[flat[at]] = flat[at + 1] end
  hold({ id = id, queue = queue, fields = fields })
  if #flat > 0 then
    redis.call('HMSET', key, 'status', 'reserved', 'node', 'longhaul', 'updated', string.format('%.3f', now / 1000))
  end
  taken = taken + 1
end
for _, queue in ipairs(redis.call('ZRANGE', 'blueque_queues', 0, -1)) do
  while taken < limit do
    local id = redis.call('RPOP', 'blueque_pending_tasks_' .. queue)
    if not id then break end
    take(id, queue)
  end
  local scheduled = 'blueque_scheduled_tasks_' .. queue
  if taken < limit then
    for _, id in ipairs(redis.call('ZRANGE', scheduled, 0, limit - taken - 1)) do
      redis.call('ZREM', scheduled, id)
      take(id, queue)
    end
  end
end
return taken`;

/**
 * qless and reqless: jobs that depend on one another are taken together, and only when none of them runs. A job whose lock
 * ended a minute ago counts as waiting: its worker is gone. Recurring jobs are taken too.
 */
export const TAKE_QLESS = `
local limit, taken = tonumber(ARGV[6]), 0
local seconds, silent, examined = now / 1000, 60, 5000
local WAITING = { waiting = true, scheduled = true, depends = true, throttled = true }
local function fieldsOf(key)
  local fields, flat = {}, redis.call('HGETALL', key)
  for at = 1, #flat, 2 do fields[flat[at]] = flat[at + 1] end
  return fields
end
local function listIn(text)
  local ok, list = pcall(cjson.decode, text or '[]')
  return ok and type(list) == 'table' and list or {}
end
local function isMovable(state, jid)
  if state ~= 'running' then return WAITING[state] == true end
  local expires = tonumber(redis.call('HGET', 'ql:j:' .. jid, 'expires')) or 0
  return expires > 0 and expires < seconds - silent
end
-- All jobs that depend on this one or that it depends on, and theirs; nil when one of them cannot be moved now.
local function familyOf(jid)
  local members, open, seen = {}, { jid }, { [jid] = true }
  while #open > 0 do
    local each = table.remove(open)
    local state = redis.call('HGET', 'ql:j:' .. each, 'state')
    if state and state ~= 'complete' then
      if not isMovable(state, each) then return nil end
      members[each] = true
      for _, kind in ipairs({ '-dependencies', '-dependents' }) do
        for _, other in ipairs(redis.call('SMEMBERS', 'ql:j:' .. each .. kind)) do
          if not seen[other] then
            seen[other] = true
            open[#open + 1] = other
          end
        end
      end
    end
  end
  return members
end
local function untag(jid, fields)
  for _, tag in ipairs(listIn(fields.tags)) do
    redis.call('ZREM', 'ql:t:' .. tag, jid)
    redis.call('ZINCRBY', 'ql:tags', -1, tag)
  end
end
local function putAt(jid)
  local first = redis.call('LINDEX', 'ql:j:' .. jid .. '-history', 0) or ''
  local ok, row = pcall(string.sub(first, 1, 1) == '[' and cjson.decode or cmsgpack.unpack, first)
  return ok and type(row) == 'table' and tonumber(row[1]) and string.format('%.3f', row[1]) or ''
end
local function takeJob(jid, members)
  local key = 'ql:j:' .. jid
  local fields = fieldsOf(key)
  local queue, dependencies = fields.queue or '', {}
  for _, other in ipairs(redis.call('SMEMBERS', key .. '-dependencies')) do
    if members[other] then dependencies[#dependencies + 1] = other end
  end
  local scheduledAt = redis.call('ZSCORE', 'ql:q:' .. queue .. '-scheduled', jid) or ''
  local isTracked = redis.call('ZSCORE', 'ql:tracked', jid) and '1' or '0'
  local first = putAt(jid)
  hold({ kind = 'job', jid = jid, fields = fields, dependencies = dependencies, scheduledAt = scheduledAt, putAt = first,
    isTracked = isTracked })
  for _, kind in ipairs({ '-work', '-scheduled', '-depends', '-throttled', '-locks' }) do
    redis.call('ZREM', 'ql:q:' .. queue .. kind, jid)
  end
  if (fields.worker or '') ~= '' then redis.call('ZREM', 'ql:w:' .. fields.worker .. ':jobs', jid) end
  for _, throttle in ipairs(listIn(fields.throttles)) do
    redis.call('ZREM', 'ql:th:' .. throttle .. '-pending', jid)
    redis.call('ZREM', 'ql:th:' .. throttle .. '-locks', jid)
  end
  untag(jid, fields)
  redis.call('DEL', key, key .. '-dependencies', key .. '-dependents', key .. '-history')
  taken = taken + 1
end
local function takeFamily(jid)
  if redis.call('EXISTS', 'ql:j:' .. jid) == 0 then return end
  local members = familyOf(jid)
  if members == nil then return end
  if not members[jid] then return end
  takeJob(jid, members)
  for other in pairs(members) do if other ~= jid then takeJob(other, members) end end
end
for _, queue in ipairs(redis.call('ZRANGE', 'ql:queues', 0, -1)) do
  local base = 'ql:q:' .. queue
  for _, jid in ipairs(redis.call('ZRANGE', base .. '-recur', 0, -1)) do
    local fields = fieldsOf('ql:r:' .. jid)
    hold({ kind = 'recurring', jid = jid, fields = fields })
    redis.call('ZREM', base .. '-recur', jid)
    untag(jid, fields)
    redis.call('DEL', 'ql:r:' .. jid)
    taken = taken + 1
  end
  local waiting = {
    redis.call('ZRANGEBYSCORE', base .. '-locks', '-inf', seconds - silent, 'LIMIT', 0, examined),
    redis.call('ZREVRANGE', base .. '-work', 0, examined - 1),
    redis.call('ZRANGE', base .. '-scheduled', 0, examined - 1),
    redis.call('ZRANGE', base .. '-throttled', 0, examined - 1),
  }
  for _, jids in ipairs(waiting) do
    for _, jid in ipairs(jids) do
      if taken >= limit then return taken end
      takeFamily(jid)
    end
  end
end
return taken`;
