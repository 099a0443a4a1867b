-- unit-of-work: collects what a call changes, and writes it.
-- uses: values, clock, context, events, indexes, job-writes, record, repair-log, storage
-- on demand: edges, unique-keys

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
  put = function(key, score, member)
    local entries = changesOf(key).entries
    local n = #entries
    entries[n + 1], entries[n + 2] = score, member
  end,

  drop = function(key, member)
    local members = changesOf(key).members
    members[#members + 1] = member
  end,

  -- Before a job is changed: what it was decides which indexes it leaves. A waiting one may stand in either of two.
  touch = function(job)
    if job.isTouched then return end
    job.isTouched = true
    context.touched[#context.touched + 1] = job
    job.oldTags, job.oldSlots, job.oldLease = job.fields.tags, job.fields.slots, nil
    job.oldEqual = job.fields.equal and 'equals:' .. job.queue .. ':' .. job.fields.equal
    local place = job.place
    if place == 'f' then
      job.wasIn = job.queue
    elseif place == 'w' then
      job.oldKey, job.oldMember, job.oldLater = 'ready:' .. job.queue, indexes.readyMember(job), 'later:' .. job.queue
    elseif place == 'b' then
      job.oldKey, job.oldMember, job.oldSide = 'blocked:' .. job.queue, record.hex(job), indexes.sideIndexOf(job)
    elseif place == 'k' then
      job.oldKey, job.oldMember, job.oldSide = 'parked:' .. job.queue, indexes.readyMember(job), indexes.sideIndexOf(job)
    else
      job.oldKey, job.oldMember, job.oldSide = STATE[place] .. ':' .. job.queue, record.hex(job), indexes.sideIndexOf(job)
      job.oldLease = job.fields.lease
      if place == 'd' or place == 'x' or place == 'c' then storage.countBytes(job, -1) end
    end
  end,

  -- Entries of a fifo that are taken from its head, and those among them that were only leftovers.
  pop = function(queue, count, leftover)
    context.popped, context.leftovers = context.popped or {}, context.leftovers or {}
    context.popped[queue] = count
    local dropped = context.leftovers[queue] or {}
    context.leftovers[queue] = dropped
    if leftover then dropped[#dropped + 1] = leftover end
    return #dropped
  end,

  -- The end of an operation. One that is followed by a claim leaves the writing to that, unless the claim might take
  -- what it has just given back.
  finish = function()
    local isAwaited = not context.isFollowedByClaim
    for i = 1, #context.touched do isAwaited = isAwaited or context.touched[i].place == 'w' end
    if not isAwaited then return end
    unitOfWork.flush()
    events.publish()
  end,

  -- The first write: the counters, and what is under way. Answers whether there is anything.
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

  -- The last: the time, and that nothing is under way. Time comes last because a clock that went back is noticed by
  -- what is stored: were it written first, a stop would leave the leases as they were for good.
  close = function(wasOpen)
    local meta = clock.changes()
    local n = #meta
    if wasOpen then meta[n + 1], meta[n + 2] = 'open', '' end
    if #meta > 0 then write('HSET', P, unpack(meta)) end
  end,

  -- Writes all that was decided. The first write says what is under way and the last that it is done.
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
    if context.uniqueKeys then require('unique-keys').write(context.uniqueKeys) end
    if context.newJobs or context.popped or context.leftFifo then jobWrites.writeFifos() end
    jobWrites.writeIndexes()
    if context.edges then require('edges').writeRemoved() end
    if forgotten then jobWrites.writeMany('HDEL', 'big', forgotten) end
    if context.deleted then jobWrites.writeDeletions(context.deleted) end
    unitOfWork.close(true)
    for i = 1, #touched do
      local job = touched[i]
      job.isTouched, job.wasIn, job.isPopped, job.isNews = nil, nil, nil, nil
      job.oldKey, job.oldLater, job.oldSide = nil, nil, nil
    end
    unitOfWork.reset()
  end,

  -- What will be written. Parts that few operations need are made when they are needed.
  reset = function()
    context.touched, context.indexes, context.indexOrder = {}, {}, {} -- jobs; key of an index → what enters and leaves it; in order
    context.newJobs, context.longTexts, context.newQueues, context.claim, context.deleted = nil, nil, nil, nil, nil
    context.popped, context.leftovers, context.leftFifo, context.maybeEmpty, context.notedKeys, context.uniqueKeys = nil, nil, nil, nil, nil, nil
    context.edges = nil
  end,
}
