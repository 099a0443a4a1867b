-- indexes: which indexes hold a job, and how they change with it.
-- uses: values, context, queue-settings, record, storage-sums, unit-of-work
-- on demand: coalescing, slots

local function updateTagIndexes(job, tags)
  local new = indexes.tagKeys(tags)
  for key in pairs(new) do
    unitOfWork.put(key, tonumber(job.seq), record.hex(job))
    unitOfWork.put('tags', 0, key:sub(5))
  end
  for key in pairs(indexes.tagKeys(job.oldTags)) do
    if not new[key] then
      unitOfWork.drop(key, record.hex(job))
      unitOfWork.noteMaybeEmpty(key)
    end
  end
end

return {
  -- Returns the member in a ready index: by time, then insertion; returned jobs by when they were returned.
  readyMember = function(job)
    local returnedAt, turn = tonumber(job.fields.returnedAt), job.fields.turn
    local time = ('%011x'):format(math.max(0, math.min(returnedAt or record.runAtOf(job), 17592186044415)))
    -- Jobs with a turn come after those without: z is greater than any hexadecimal digit.
    return (turn and not returnedAt and 'z' .. ('%011x'):format(turn) or '') .. time .. record.hex(job)
  end,

  -- Returns the index of a job, its member and its score; nothing for a job in a fifo.
  indexOf = function(job)
    local place, fields, queue = job.place, job.fields, job.queue
    if place == 'r' then return 'running:' .. queue, record.hex(job), text(record.leaseOf(job).to) end
    if place == 'd' then return 'done:' .. queue, record.hex(job), fields.endedAt end
    if place == 'w' then
      local runAt = record.runAtOf(job)
      if runAt > context.now then return 'later:' .. queue, record.hex(job), text(runAt) end
      return 'ready:' .. queue, indexes.readyMember(job), fields.returnedAt and '-inf' or fields.priority or '0'
    end
    if place == 'k' then
      return 'parked:' .. queue, indexes.readyMember(job), fields.returnedAt and '-inf' or fields.priority or '0'
    end
    if place == 'p' then return 'draft:' .. queue, record.hex(job), job.createdAt end
    if place == 'b' then return 'blocked:' .. queue, record.hex(job), job.seq end
    if place ~= 'f' then return STATE[place] .. ':' .. queue, record.hex(job), fields.endedAt end
  end,

  -- Returns the second index of a job: by failure group, forwarded, by throttle if parked, by leader if coalesced.
  sideIndexOf = function(job)
    local fields = job.fields
    if job.place == 'k' then return 'park:' .. job.queue .. ':' .. fields.parked end
    if job.place == 'b' and fields.into then return 'folds:' .. fields.into end
    if job.place == 'x' then return 'group:' .. job.queue .. ':' .. fields.group end
    if job.place == 'd' and fields.forwardedTo then return 'relayed:' .. job.queue end
  end,

  updateSideIndex = function(job, side, oldSide)
    local member, isParked = record.hex(job), job.place == 'k'
    if side and isParked then
      local _, parkedMember, score = indexes.indexOf(job)
      unitOfWork.put(side, score, parkedMember)
      unitOfWork.put('parks:' .. job.fields.parked, 0, job.queue)
      -- A job that is parked under a bucket is checked when it opens; at once if this call does not know the bucket.
      local parked, wake = job.fields.parked, 0
      local bucket = parked:match('^r:[^:]*:(.*)$')
      local state = bucket and context.bucketStates and context.bucketStates[bucket]
      if bucket then wake = text(math.max(context.now, state and state.to or 0)) end
      if bucket or parked:find('^n:') then unitOfWork.put('needs:' .. job.queue, wake, parked) end
    elseif side then
      unitOfWork.put(side, job.fields.endedAt or job.seq, member)
    end
    if side and job.place == 'x' then unitOfWork.put('groups:' .. job.queue, 0, job.fields.group) end
    if oldSide and (oldSide ~= side or (isParked and job.oldMember ~= indexes.readyMember(job))) then
      unitOfWork.drop(oldSide, oldSide:sub(1, 5) == 'park:' and job.oldMember or member)
      unitOfWork.noteMaybeEmpty(oldSide)
    end
  end,

  tagKeys = function(tags)
    local found = {}
    for tag in (tags and tags .. '\30' or ''):gmatch('([^\30]*)\30') do found['tag:' .. tag] = true end
    return found
  end,

  registerQueue = function(queue)
    local names = unitOfWork.pending('newQueues')
    if names[queue] or call('ZSCORE', P .. 'queues', queue) then return end
    names[queue], names[#names + 1] = true, queue
  end,

  changeQueue = function(job, queue)
    if job.queue == queue then return end
    job.queue = queue
    indexes.registerQueue(queue)
  end,

  -- Collects the index changes of a job that was touched and changed.
  updateIndexes = function(job)
    local key, member, score, side, tags
    local isInLine = not job.isDeleted and STATE[job.place] == 'waiting' and job.place ~= 'b'
    local coalesce = isInLine and job.isChanged and orNil(queueSettings.settingsOf(job.queue).coalesce)
    if coalesce or job.oldEqual then require('coalescing').updateEqualIndex(job, isInLine, coalesce) end
    if job.fields.parked and job.place ~= 'k' then job.fields.parked = nil end
    if not job.isDeleted then
      key, member, score = indexes.indexOf(job)
      side, tags = indexes.sideIndexOf(job), job.fields.tags
      local place = job.place
      if place == 'd' or place == 'x' or place == 'c' then storageSums.countBytes(job, 1) end
    end
    local oldKey, oldLater, oldSide = job.oldKey, job.oldLater, job.oldSide
    if key then unitOfWork.put(key, score, member) end
    if oldKey and (oldKey ~= key or job.oldMember ~= member) then unitOfWork.drop(oldKey, job.oldMember) end
    if oldLater and oldLater ~= key then unitOfWork.drop(oldLater, record.hex(job)) end
    if side or oldSide then indexes.updateSideIndex(job, side, oldSide) end
    if tags ~= job.oldTags then updateTagIndexes(job, tags) end
    if job.fields.slots ~= job.oldSlots then require('slots').updateSlotIndexes(job, job.fields.slots, job.oldSlots) end
  end,
}
