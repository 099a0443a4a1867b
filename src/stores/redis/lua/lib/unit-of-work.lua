-- unit-of-work: collects what a call changes, and writes it.
--
-- Invariant: the first write of a flush logs what is under way (`open`), the last one clears it. A later call that finds the
-- log repairs what is missing (repair.lua).
-- uses: values, clock, context, events, indexes, job-writes, record, repair-log, storage-sums
-- on demand: edges, key-changes

local function changesOf(key)
  local list = context.indexes[key]
  if not list then
    list = { key = key, entries = {}, members = {} }
    context.indexes[key] = list
    context.indexOrder[#context.indexOrder + 1] = list
  end
  return list
end

return {
  -- Returns a table of changes by its name in the context; makes it if it is not there.
  pending = function(name)
    local changes = context[name] or {}
    context[name] = changes
    return changes
  end,

  put = function(key, score, member)
    local entries = changesOf(key).entries
    local n = #entries
    entries[n + 1], entries[n + 2] = score, member
  end,

  drop = function(key, member)
    local members = changesOf(key).members
    members[#members + 1] = member
  end,

  -- Notes an index whose name must be deleted elsewhere if it has no member left. Many jobs may leave it in one call.
  noteMaybeEmpty = function(key)
    local keys = unitOfWork.pending('maybeEmpty')
    if not keys[key] then keys[#keys + 1] = key end
    keys[key] = true
  end,

  -- Must be called before a job is changed: it notes the indexes that the job may leave. A waiting job may be in either of two.
  touch = function(job)
    if job.isTouched then return end
    job.isTouched = true
    context.touched[#context.touched + 1] = job
    job.oldTags, job.oldSlots, job.oldLease = job.fields.tags, job.fields.slots, nil
    job.oldSuspended = job.fields.suspended
    job.oldEqual = job.fields.equal and 'equals:' .. job.queue .. ':' .. job.fields.equal
    local place = job.place
    if place == 'f' then
      job.oldFifo = job.queue
    elseif place == 'w' then
      job.oldKey, job.oldMember, job.oldLater = 'ready:' .. job.queue, indexes.readyMember(job), 'later:' .. job.queue
    elseif place == 'b' then
      job.oldKey, job.oldMember, job.oldSide = 'blocked:' .. job.queue, record.hex(job), indexes.sideIndexOf(job)
    elseif place == 'k' then
      job.oldKey, job.oldMember, job.oldSide = 'parked:' .. job.queue, indexes.readyMember(job), indexes.sideIndexOf(job)
    else
      job.oldKey, job.oldMember, job.oldSide = STATE[place] .. ':' .. job.queue, record.hex(job), indexes.sideIndexOf(job)
      job.oldLease = job.fields.lease
      if place == 'd' or place == 'x' or place == 'c' then storageSums.countBytes(job, -1) end
    end
  end,

  -- Notes how many entries are taken from the head of a fifo, and which of them are leftovers. Returns the number of those.
  pop = function(queue, count, leftover)
    unitOfWork.pending('popped')[queue] = count
    local leftovers = unitOfWork.pending('leftovers')
    local own = leftovers[queue] or {}
    leftovers[queue] = own
    if leftover then own[#own + 1] = leftover end
    return #own
  end,

  -- Ends an operation. If a claim follows, the claim writes, unless it might take a job that was just returned.
  finish = function()
    local isAwaited = not context.isFollowedByClaim
    for i = 1, #context.touched do isAwaited = isAwaited or context.touched[i].place == 'w' end
    if not isAwaited then return end
    unitOfWork.flush()
    events.publish()
  end,

  -- Writes the counters and the log. Returns whether there is anything to write.
  open = function()
    if #context.touched == 0 and not context.newJobs and not context.popped and #context.indexOrder == 0 then return false end
    local meta = { 'open', repairLog.text() }
    if context.seq ~= context.stored.seq then
      meta[3], meta[4], context.stored.seq = 'seq', text(context.seq), context.seq
    end
    if context.token ~= context.stored.token then
      local n = #meta
      meta[n + 1], meta[n + 2], context.stored.token = 'token', text(context.token), context.token
    end
    write('HSET', P, unpack(meta))
    return true
  end,

  -- Writes the time and clears the log. The time comes last: a backward step is detected by the stored time, and the leases
  -- must be restarted before it is lost.
  close = function(wasOpen)
    local meta = clock.changes()
    local n = #meta
    if wasOpen then meta[n + 1], meta[n + 2] = 'open', '' end
    if #meta > 0 then write('HSET', P, unpack(meta)) end
  end,

  -- Writes all changes of the call.
  flush = function()
    local touched = context.touched
    for i = 1, #touched do indexes.updateIndexes(touched[i]) end
    if not unitOfWork.open() then return unitOfWork.close(false) end
    if context.newJobs then jobWrites.writePieces(context.newJobs) end
    if context.newQueues then jobWrites.writeQueues(context.newQueues) end
    local forgotten = context.longTexts and jobWrites.writeLongTexts(context.longTexts)
    if context.edges then require('edges').writeAdded() end
    jobWrites.writeRecords()
    if context.deleted then jobWrites.writeMany('HDEL', 'j', context.deleted.ids) end
    if context.uniqueKeys then require('key-changes').write(context.uniqueKeys) end
    if context.newJobs or context.popped or context.leftFifo then jobWrites.writeFifos() end
    jobWrites.writeIndexes()
    if context.edges then require('edges').writeRemoved() end
    if forgotten then jobWrites.writeMany('HDEL', 'big', forgotten) end
    if context.deleted then jobWrites.writeDeletions(context.deleted) end
    -- After the records: a step without its sums would be kept forever, and sums without their step only count too much.
    for _, command in ipairs(context.steps or {}) do write(unpack(command)) end
    unitOfWork.close(true)
    for i = 1, #touched do
      local job = touched[i]
      job.isTouched, job.oldFifo, job.isPopped, job.isChanged = nil, nil, nil, nil
      job.oldKey, job.oldLater, job.oldSide = nil, nil, nil
    end
    unitOfWork.reset()
  end,

  -- Clears the collected changes.
  reset = function()
    context.touched, context.indexes, context.indexOrder = {}, {}, {}
    context.newJobs, context.longTexts, context.newQueues, context.claim, context.deleted = nil, nil, nil, nil, nil
    context.popped, context.leftovers, context.leftFifo, context.maybeEmpty = nil, nil, nil, nil
    context.notedKeys, context.uniqueKeys, context.edges, context.parkedReaders, context.steps = nil, nil, nil, nil, nil
  end,
}
