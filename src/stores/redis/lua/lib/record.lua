-- record: reads the records of jobs.
-- uses: values, context, record-changes

return {
  -- What a request or a record says: \31 name=value for each thing.
  fieldsOf = function(words)
    local fields = {}
    for name, value in words:gmatch('\31(%a+)=([^\31]*)') do fields[name] = value end
    return fields
  end,

  parse = function(id, words)
    local rowsAt = words:find('\31+', 1, true)
    local dataAt = words:find('\31:', rowsAt or 1, true)
    local headEnd = (rowsAt or dataAt) - 1
    local place, seq, createdAt, queue, stop = words:match('^(.)(%S+) (%S+) ([^\31]+)()')
    return {
      id = id, place = place, seq = seq, createdAt = createdAt, queue = queue,
      fields = stop <= headEnd and record.fieldsOf(words:sub(stop, headEnd)) or {},
      rows = rowsAt and words:sub(rowsAt, dataAt - 1) or '',
      data = words:sub(dataAt),
    }
  end,

  -- Loads what is not yet known. Lua's stack holds 8,000 arguments; lists are far shorter.
  load = function(ids)
    local jobs, missing, n = context.jobs, {}, 0
    for i = 1, #ids do
      local id = ids[i]
      if jobs[id] == nil then
        n = n + 1
        missing[n], jobs[id] = id, false
      end
    end
    for from = 1, n, K.MAX_ARGUMENTS do
      local to = math.min(from + K.MAX_ARGUMENTS - 1, n)
      local found = call('HMGET', P .. 'j', unpack(missing, from, to))
      for i = from, to do
        local words = found[i - from + 1]
        if words then jobs[missing[i]] = record.parse(missing[i], words) end
      end
    end
  end,

  -- The ids of seqs, false where there is none.
  idsOf = function(seqs)
    local ids, from, n, PIECE = {}, 1, #seqs, K.SEQS_PER_PIECE
    while from <= n do
      local piece, fields, to = math.floor(seqs[from] / PIECE), {}, from
      repeat
        fields[to - from + 1] = ('%d'):format(seqs[to] % PIECE)
        to = to + 1
      until to > n or math.floor(seqs[to] / PIECE) ~= piece
      local found = call('HMGET', P .. 's:' .. piece, unpack(fields))
      for i = from, to - 1 do ids[i] = found[i - from + 1] end
      from = to
    end
    local births = context.newJobs -- which this call has yet to write
    for i = 1, births and n or 0 do ids[i] = ids[i] or births.ids[seqs[i] - births.first + 1] or false end
    return ids
  end,

  -- The jobs of seqs, in their order; false for what is only a leftover.
  bySeqs = function(seqs)
    local ids, known, found, jobs = record.idsOf(seqs), {}, {}, context.jobs
    for i = 1, #seqs do
      if ids[i] then known[#known + 1] = ids[i] end
    end
    record.load(known)
    for i = 1, #seqs do
      local job = ids[i] and jobs[ids[i]]
      found[i] = job and tonumber(job.seq) == tonumber(seqs[i]) and job or false
    end
    return found
  end,

  -- Members of indexes end in 13 hexadecimal digits of seq; those of a fifo are the bare seq.
  seqsOf = function(members)
    local seqs = {}
    for i = 1, #members do
      local member = members[i]
      seqs[i] = #member >= 13 and tonumber(member:sub(-13), 16) or tonumber(member)
    end
    return seqs
  end,

  hex = function(job)
    local hex = job.hex
    if not hex then
      hex = ('%013x'):format(job.seq)
      job.hex = hex
    end
    return hex
  end,

  runAtOf = function(job)
    return tonumber(job.fields.runAt or job.createdAt)
  end,

  -- Since when a job that waits can be claimed: core/job/job.ts.
  readySince = function(job)
    return math.max(record.runAtOf(job), tonumber(job.createdAt), number(job.fields.freedAt))
  end,

  -- The lease: token, length, end, start, worker. What was reported and asked since stands in fields of its own.
  leaseOf = function(job)
    local lease = job.lease
    if not lease and job.fields.lease then
      local token, ms, to, claimedAt, worker = job.fields.lease:match('^(%S+) (%S+) (%S+) (%S+) (.*)$')
      lease = { token = token, ms = tonumber(ms), to = tonumber(to), claimedAt = claimedAt, worker = worker }
      job.lease = lease
    end
    return lease
  end,

  holds = function(job, token)
    return job and job.place == 'r' and record.leaseOf(job).token == token
  end,

  -- A job in an answer: id, record, and its texts that stand apart.
  show = function(answer, job)
    answer[#answer + 1] = job.id
    answer[#answer + 1] = job.written or recordChanges.encode(job)
    for letter in (job.fields.apart or ''):gmatch('.') do
      answer[#answer + 1] = call('HGET', P .. 'big', letter .. job.id) or ''
    end
  end,

  -- Whether a record of the bookkeeping (records-*) has not expired: version \31 expiry \31 time of change \31 value.
  isUnexpired = function(words)
    local expiresAt = tonumber(words:match('^[^\31]*\31([^\31]*)'))
    return not expiresAt or expiresAt > context.now
  end,
}
