-- unique-keys: which job holds a unique key (core/operations/apply.ts). Stored by address: "<until> <id>".
-- uses: context

local uniqueKeys = {}

function uniqueKeys.uniqueOf(job)
  if not job.fields.unique then return nil end
  local scope, ends, periodMs, key = job.fields.unique:match('^(%S+) (%S+) (%S+) (.*)$')
  return { scope = scope, ends = ends, periodMs = tonumber(periodMs), key = key }
end

function uniqueKeys.keyAddress(unique, queue)
  return unique.scope == 'store' and 's:' .. unique.key or 'q:' .. queue .. ':' .. unique.key
end

-- Returns the address of the unique key of a job, or nil.
function uniqueKeys.addressOf(job)
  local unique = uniqueKeys.uniqueOf(job)
  return unique and uniqueKeys.keyAddress(unique, job.queue)
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

function uniqueKeys.releasesKey(unique, state)
  if unique.ends == 'period' then return false end
  return state == 'done' or state == 'failed' or state == 'cancelled' or (unique.ends == 'started' and state == 'running')
end

-- Returns the other job that holds the unique key of a job in a queue, if there is one.
function uniqueKeys.keyHolderAgainst(job, queue)
  local unique = uniqueKeys.uniqueOf(job)
  local holder = unique and uniqueKeys.holder(uniqueKeys.keyAddress(unique, queue))
  if holder ~= job.id then return holder end
end

function uniqueKeys.holdsKey(job)
  local address = uniqueKeys.addressOf(job)
  return address and uniqueKeys.holder(address) == job.id
end

return uniqueKeys
