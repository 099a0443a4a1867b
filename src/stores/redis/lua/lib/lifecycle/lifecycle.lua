-- lifecycle: the transitions of a job (core/lifecycle/lifecycle.ts) and what follows from each (core/operations/apply.ts).
-- uses: values, context, events, measurements, record, record-changes
-- on demand: coalescing, key-changes, outbox, slots

return {
  -- Cuts a note to the length that JavaScript counts, in UTF-16 units: a character of four bytes has two.
  cutNote = function(note)
    local MOST = K.MAX_NOTE_LENGTH
    if #note <= MOST then return note end
    local units, at = 0, 1
    while at <= #note do
      local byte = note:byte(at)
      local size = byte < 128 and 1 or byte < 224 and 2 or byte < 240 and 3 or 4
      units = units + (size == 4 and 2 or 1)
      if units > MOST then return note:sub(1, at - 1) end
      at = at + size
    end
    return note
  end,

  -- Appends a row to the history. The first row of a job is not stored, and never dropped.
  appendRow = function(job, event, token, by, note)
    local fields, place = job.fields, job.place
    local row = '\31+' .. K.EVENT[event] .. (place == 'f' and 'w' or place) .. text(context.now - job.createdAt) .. ' '
      .. (fields.attempt or '0') .. (token and ' ' .. token or '') .. (by and '\30b' .. by or '')
    if note then row = row .. '\30n' .. lifecycle.cutNote(note) end
    local rows, count = job.rows .. row, number(fields.rows) + 1
    if count > K.MAX_HISTORY - 1 then
      local second = rows:find('\31+', 3, true)
      rows, count = rows:sub(second), count - 1
    end
    job.rows, fields.rows = rows, text(count)
  end,

  -- Completes a transition: history, statistics, unique key, event, webhooks and coalesced jobs.
  apply = function(job, event, details)
    lifecycle.appendRow(job, event, details.token, details.by, details.note)
    measurements.measure(job, event, details)
    if job.fields.unique then require('key-changes').followKey(job, details.from or job.queue) end
    events.emit(event, job.queue, STATE[job.place], job.id)
    job.isChanged = true
    if job.fields.hooks or context.webhookQueues then require('outbox').addWebhookJobs(job, event) end
    if job.hadCoalesced then require('coalescing').followLeader(job, event) end
  end,

  withoutLease = function(job)
    local fields = job.fields
    job.lease, fields.lease, fields.suspended = nil, nil, nil
    if fields.slots or fields.counted then require('slots').freeSlots(job) end
    -- Only a done job keeps the number of jobs that were coalesced into it.
    job.hadCoalesced = fields.folded ~= nil
    if job.place ~= 'd' then fields.folded = nil end
    fields.startedAt, fields.pid, fields.cancelAskedAt, fields.pauseAskedAt = nil, nil, nil, nil
  end,

  -- Ends a job. A done job has no dependents that wait.
  ended = function(job, place)
    job.place = place
    lifecycle.withoutLease(job)
    local fields = job.fields
    if place == 'd' then fields.dependents = nil end
    fields.endedAt, fields.returnedAt, fields.into = context.nowText, nil, nil
  end,

  -- Makes a job waiting: blocked by other jobs, or not. One that is no longer blocked is free since now.
  wait = function(job)
    local parents, wasBlocked = job.fields.parents, job.place == 'b'
    job.place = (job.fields.into or (parents and not parents:find('^%d+ 0 '))) and 'b' or 'w'
    if wasBlocked and job.place == 'w' then job.fields.freedAt = context.nowText end
  end,

  -- Sets another run time. The wait of a job that is moved into the past starts at its old run time or now, not before.
  withRunAt = function(job, runAt)
    local dueAt = math.min(record.runAtOf(job), context.now)
    recordChanges.setRunAt(job, runAt)
    if STATE[job.place] ~= 'waiting' or runAt >= dueAt then return end
    if dueAt > record.readySince(job) then job.fields.freedAt = text(dueAt) end
  end,

  setFailure = function(job, group, message, detail, apart)
    job.fields.group, job.fields.message = group, message
    recordChanges.setText(job, 't', detail, apart)
  end,

  -- Returns a job to the front of its queue; `since` orders it among other returned jobs.
  returned = function(job, since, delayMs)
    job.place = 'w'
    lifecycle.withoutLease(job)
    job.fields.returnedAt = text(since)
    recordChanges.setDue(job, delayMs)
  end,

  restarted = function(job)
    job.fields.into = nil
    lifecycle.wait(job)
    lifecycle.withoutLease(job)
    local fields = job.fields
    fields.returnedAt, fields.failures, fields.resends, fields.crashes = nil, nil, nil, nil
    fields.progress, fields.forwardedTo, fields.endedAt = nil, nil, nil
    recordChanges.setText(job, 'r', nil)
    lifecycle.setFailure(job, nil, nil, nil)
  end,
}
