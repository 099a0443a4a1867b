-- key-changes: takes, releases and writes unique keys (core/operations/apply.ts).
-- uses: values, context, job-writes, unit-of-work
-- on demand: unique-keys

local uniqueKeys = require('unique-keys')
local keyChanges = {}

function keyChanges.set(address, entry)
  context.knownKeys[address], unitOfWork.pending('uniqueKeys')[address] = entry, entry
end

function keyChanges.release(address, id)
  local entry = uniqueKeys.entry(address)
  if entry and entry:match('^%S+ (.*)$') == id then keyChanges.set(address, false) end
end

-- Takes the key if it is free. A period starts when the key is first taken.
function keyChanges.takeKey(job)
  local unique = uniqueKeys.uniqueOf(job)
  if not unique then return end
  local address = uniqueKeys.keyAddress(unique, job.queue)
  if uniqueKeys.holder(address) then return end
  keyChanges.set(address, (unique.ends == 'period' and text(context.now + unique.periodMs) or '-') .. ' ' .. job.id)
end

function keyChanges.note(address)
  table.insert(unitOfWork.pending('notedKeys'), address)
end

-- Releases the key of a job that ends, or moves it with the job to its next queue.
function keyChanges.followKey(job, queueBefore)
  local unique = uniqueKeys.uniqueOf(job)
  local from, to = uniqueKeys.keyAddress(unique, queueBefore), uniqueKeys.keyAddress(unique, job.queue)
  local isOver, hasMoved = uniqueKeys.releasesKey(unique, STATE[job.place]), from ~= to
  local isKept = hasMoved and not isOver and uniqueKeys.holder(from) == job.id
  keyChanges.note(from)
  if isOver or hasMoved then keyChanges.release(from, job.id) end
  if isKept then keyChanges.takeKey(job) end
end

function keyChanges.write(changes)
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

return keyChanges
