-- job-writes: the writes of a unit of work, in the order of unitOfWork.flush.
-- uses: context, record-changes, statistics

return {
  writeMany = function(command, key, list)
    local STEP, n = K.MAX_ARGUMENTS, #list
    if n == 0 then return end
    if n <= STEP then return write(command, P .. key, unpack(list)) end
    for from = 1, n, STEP do write(command, P .. key, unpack(list, from, math.min(from + STEP - 1, n))) end
  end,

  -- Adds new jobs to the index by insertion before their records exist, so that a repair finds them.
  writePieces = function(newJobs)
    local pieces, last, n, ids, PIECE = {}, nil, 0, newJobs.ids, K.SEQS_PER_PIECE
    for i = 1, #ids do
      local seq = newJobs.first + i - 1
      if not last or seq % PIECE == 0 then
        last, n = { piece = math.floor(seq / PIECE) }, 0
        pieces[#pieces + 1] = last
      end
      last[n + 1], last[n + 2], n = ('%d'):format(seq % PIECE), ids[i], n + 2
    end
    local directory = {}
    for i = 1, #pieces do
      local piece = pieces[i].piece
      jobWrites.writeMany('HSET', 's:' .. piece, pieces[i])
      directory[#directory + 1] = piece
      directory[#directory + 1] = piece
    end
    jobWrites.writeMany('ZADD', 's', directory)
  end,

  writeQueues = function(names)
    if #names == 0 then return end
    local count, entries = call('ZCARD', P .. 'queues'), {}
    for i = 1, #names do
      entries[#entries + 1] = count + i
      entries[#entries + 1] = names[i]
    end
    jobWrites.writeMany('ZADD', 'queues', entries)
  end,

  -- Writes long texts and returns the addresses of those to delete.
  writeLongTexts = function(texts)
    local set, gone = {}, {}
    for address, value in pairs(texts) do
      if value then
        set[#set + 1] = address
        set[#set + 1] = value
      else
        gone[#gone + 1] = address
      end
    end
    jobWrites.writeMany('HSET', 'big', set)
    return gone
  end,

  -- Writes all records of a call, the claim of a worker, the buckets of throttles and the statistics in one HSET: all of it is
  -- written or nothing.
  writeRecords = function()
    local set, touched = context.newJobs and context.newJobs.records or {}, context.touched
    local n = #set
    for i = 1, #touched do
      local job = touched[i]
      if not job.isDeleted then
        local written = recordChanges.encode(job)
        job.written, set[n + 1], set[n + 2] = written, job.id, written
        n = n + 2
      end
    end
    if context.claim then set[n + 1], set[n + 2] = unpack(context.claim) end
    if context.appendBuckets then context.appendBuckets(set) end
    statistics.append(set, context.nowText)
    jobWrites.writeMany('HSET', 'j', set)
  end,

  writeFifos = function()
    local newJobs = context.newJobs
    for i = 1, newJobs and #newJobs.queues or 0 do
      jobWrites.writeMany('RPUSH', 'fifo:' .. newJobs.queues[i], newJobs.fifo[newJobs.queues[i]])
    end
    for queue, count in pairs(context.popped or {}) do
      jobWrites.writeMany('SREM', 'gone:' .. queue, context.leftovers[queue])
      write('LTRIM', P .. 'fifo:' .. queue, count, -1)
    end
    for queue, seqs in pairs(context.leftFifo or {}) do jobWrites.writeMany('SADD', 'gone:' .. queue, seqs) end
  end,

  -- Adds before it removes: a call that is cut short in between leaves a job in two indexes, never in none.
  writeIndexes = function()
    local order = context.indexOrder
    for i = 1, #order do jobWrites.writeMany('ZADD', order[i].key, order[i].entries) end
    for i = 1, #order do jobWrites.writeMany('ZREM', order[i].key, order[i].members) end
    for _, key in ipairs(context.maybeEmpty or {}) do
      -- Deletes the names of failure groups, tags and parking places that have no member left.
      local kind, queue, name = key:match('^(%l+):([^:]*):(.*)$')
      if queue and call('EXISTS', P .. key) == 0 then
        if kind == 'group' then write('ZREM', P .. 'groups:' .. queue, name) end
        if kind == 'park' then write('ZREM', P .. 'parks:' .. name, queue) end
        if kind == 'park' and name:find('^[nr]:') then write('ZREM', P .. 'needs:' .. queue, name) end
      end
      local tag = key:match('^tag:(.*)$')
      if tag and call('EXISTS', P .. key) == 0 then write('ZREM', P .. 'tags', tag) end
    end
  end,

  writeDeletions = function(deleted)
    for i = 1, #deleted do
      local job = deleted[i]
      local piece = math.floor(job.seq / K.SEQS_PER_PIECE)
      write('HDEL', P .. 's:' .. piece, job.seq % K.SEQS_PER_PIECE)
      if call('EXISTS', P .. 's:' .. piece) == 0 then write('ZREM', P .. 's', piece) end
      context.jobs[job.id] = false
    end
  end,
}
