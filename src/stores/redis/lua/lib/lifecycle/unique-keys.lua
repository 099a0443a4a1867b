-- unique-keys: unique keys: core/operations/apply.ts.
-- uses: values, context, job-writes

local uniqueKeys = {}

function uniqueKeys.uniqueOf(job)
  if not job.fields.unique then return nil end
  local scope, ends, periodMs, key = job.fields.unique:match('^(%S+) (%S+) (%S+) (.*)$')
  return { scope = scope, ends = ends, periodMs = tonumber(periodMs), key = key }
end

function uniqueKeys.keyAddress(unique, queue)
  return unique.scope == 'store' and 's:' .. unique.key or 'q:' .. queue .. ':' .. unique.key
end

function uniqueKeys.entry(address)
  if context.knownKeys[address] == nil then context.knownKeys[address] = call('HGET', P .. 'keys', address) end
  return context.knownKeys[address]
end

function uniqueKeys.holder(address)
  local entry = uniqueKeys.entry(address)
  if not entry then return nil end
  local to, id = entry:match('^(%S+) (.*)$')
  if to == '-' or tonumber(to) > context.now then return id end
end

function uniqueKeys.set(address, entry)
  context.uniqueKeys = context.uniqueKeys or {}
  context.knownKeys[address], context.uniqueKeys[address] = entry, entry
end

function uniqueKeys.release(address, id)
  local entry = uniqueKeys.entry(address)
  if entry and entry:match('^%S+ (.*)$') == id then uniqueKeys.set(address, false) end
end

-- Takes the key if it is free. A period is counted from the first taking.
function uniqueKeys.takeKey(job)
  local unique = uniqueKeys.uniqueOf(job)
  if not unique then return end
  local address = uniqueKeys.keyAddress(unique, job.queue)
  if uniqueKeys.holder(address) then return end
  uniqueKeys.set(address, (unique.ends == 'period' and text(context.now + unique.periodMs) or '-') .. ' ' .. job.id)
end

function uniqueKeys.releasesKey(unique, state)
  if unique.ends == 'period' then return false end
  return state == 'done' or state == 'failed' or state == 'cancelled' or (unique.ends == 'started' and state == 'running')
end

-- The job that stands in the way of this one's unique key in that queue, if any.
function uniqueKeys.keyHolderAgainst(job, queue)
  local unique = uniqueKeys.uniqueOf(job)
  local holder = unique and uniqueKeys.holder(uniqueKeys.keyAddress(unique, queue))
  if holder ~= job.id then return holder end
end

function uniqueKeys.holdsKey(job)
  local unique = uniqueKeys.uniqueOf(job)
  return unique and uniqueKeys.holder(uniqueKeys.keyAddress(unique, job.queue)) == job.id
end

function uniqueKeys.note(address)
  context.notedKeys = context.notedKeys or {}
  context.notedKeys[#context.notedKeys + 1] = address
end

-- A key that a job holds ends with it or goes along to its next queue.
function uniqueKeys.followKey(job, queueBefore)
  local unique = uniqueKeys.uniqueOf(job)
  local from, to = uniqueKeys.keyAddress(unique, queueBefore), uniqueKeys.keyAddress(unique, job.queue)
  local isOver, hasMoved = uniqueKeys.releasesKey(unique, STATE[job.place]), from ~= to
  local isKept = hasMoved and not isOver and uniqueKeys.holder(from) == job.id
  uniqueKeys.note(from)
  if isOver or hasMoved then uniqueKeys.release(from, job.id) end
  if isKept then uniqueKeys.takeKey(job) end
end

function uniqueKeys.write(changes)
  local set, gone, periods = {}, {}, {}
  for address, entry in pairs(changes) do
    if entry then
      set[#set + 1] = address
      set[#set + 1] = entry
      local to = entry:match('^%S+')
      if to ~= '-' then
        periods[#periods + 1] = to
        periods[#periods + 1] = address
      end
    else
      gone[#gone + 1] = address
    end
  end
  jobWrites.writeMany('ZADD', 'periods', periods)
  jobWrites.writeMany('HSET', 'keys', set)
  jobWrites.writeMany('HDEL', 'keys', gone)
  jobWrites.writeMany('ZREM', 'periods', gone)
end

return uniqueKeys
