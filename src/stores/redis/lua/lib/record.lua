-- record: reads the records of jobs (lib/base.lua describes them; encoding/job-record.ts reads them too).
-- uses: values, context, pieces

return {
  -- Returns the fields of a record or a request: \31 name=value for each.
  fieldsOf = function(encoded)
    local fields = {}
    for name, value in encoded:gmatch('\31(%a+)=([^\31]*)') do fields[name] = value end
    return fields
  end,

  -- Returns the job of a record. `written` is the record as it is stored.
  parse = function(id, encoded)
    local rowsAt = encoded:find('\31+', 1, true)
    local dataAt = encoded:find('\31:', rowsAt or 1, true)
    local headEnd = (rowsAt or dataAt) - 1
    local place, seq, createdAt, queue, stop = encoded:match('^(.)(%S+) (%S+) ([^\31]+)()')
    return {
      id = id, place = place, seq = seq, createdAt = createdAt, queue = queue, written = encoded,
      fields = stop <= headEnd and record.fieldsOf(encoded:sub(stop, headEnd)) or {},
      rows = rowsAt and encoded:sub(rowsAt, dataAt - 1) or '',
      data = encoded:sub(dataAt),
    }
  end,

  -- Loads the jobs that are not yet loaded into context.jobs. Lua's stack holds 8,000 arguments; lists are far shorter.
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
        local encoded = found[i - from + 1]
        if encoded then jobs[missing[i]] = record.parse(missing[i], encoded) end
      end
    end
  end,

  -- Returns the ids of seqs; false where there is none.
  idsOf = function(seqs)
    local ids, newJobs = pieces.idsOf(seqs), context.newJobs -- which are not yet written
    for i = 1, newJobs and #seqs or 0 do ids[i] = ids[i] or newJobs.ids[seqs[i] - newJobs.first + 1] or false end
    return ids
  end,

  -- Returns the jobs of seqs, in their order; false for a leftover in an index.
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

  -- Returns the seqs of members: those of indexes end in 13 hexadecimal digits, those of a fifo are the decimal seq.
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

  -- Returns since when a waiting job can be claimed (core/job/job.ts).
  readySince = function(job)
    return math.max(record.runAtOf(job), tonumber(job.createdAt), number(job.fields.freedAt))
  end,

  -- Returns the lease: token, length, end, start, worker.
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

  -- Appends a job to an answer: id, record, and its long texts.
  show = function(answer, job)
    answer[#answer + 1] = job.id
    answer[#answer + 1] = job.written
    for letter in (job.fields.apart or ''):gmatch('.') do
      answer[#answer + 1] = call('HGET', P .. 'big', letter .. job.id) or ''
    end
  end,

  -- Returns whether a record of records-put has not expired: version \31 expiry \31 time of change \31 value.
  isUnexpired = function(encoded)
    local expiresAt = tonumber(encoded:match('^[^\31]*\31([^\31]*)'))
    return not expiresAt or expiresAt > context.now
  end,
}
