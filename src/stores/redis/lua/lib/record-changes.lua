-- record-changes: changes the record of a job, and encodes it (see record.lua).
-- uses: values, context, unit-of-work

local TEXTS = { r = 'result', v = 'checkpoint', t = 'detail' } -- may be long texts, as may d, the data

return {
  -- Encodes a record. The attempt and the lease come first and the number of rows last: the fast path relies on it.
  encode = function(job)
    local fields = job.fields
    local attempt, lease, rows = fields.attempt, fields.lease, fields.rows
    local parts, n = { job.place, job.seq, ' ', job.createdAt, ' ', job.queue }, 6
    if attempt then parts[7], parts[8], n = '\31attempt=', attempt, 8 end
    if lease then parts[n + 1], parts[n + 2], n = '\31lease=', lease, n + 2 end
    for name, value in pairs(fields) do
      if name ~= 'attempt' and name ~= 'lease' and name ~= 'rows' then
        parts[n + 1], parts[n + 2], parts[n + 3], parts[n + 4] = '\31', name, '=', value
        n = n + 4
      end
    end
    if rows then parts[n + 1], parts[n + 2], n = '\31rows=', rows, n + 2 end
    parts[n + 1], parts[n + 2] = job.rows, job.data
    return table.concat(parts)
  end,

  setRunAt = function(job, at)
    local value = text(at)
    job.fields.runAt = value ~= job.createdAt and value or nil
  end,

  -- Makes a job due after a delay from now.
  setDue = function(job, delayMs)
    recordChanges.setRunAt(job, context.now + delayMs)
    job.fields.delayMs = text(delayMs)
  end,

  -- Sets a counter or a time; 0 is the default of all of them.
  setNumber = function(job, name, value)
    job.fields[name] = value ~= 0 and text(value) or nil
  end,

  setLease = function(job, lease)
    job.lease = lease
    job.fields.lease =
      lease.token .. ' ' .. text(lease.ms) .. ' ' .. text(lease.to) .. ' ' .. lease.claimedAt .. ' ' .. lease.worker
  end,

  -- Sets a text that may be long: `value` in the record, or `apart` in `big`.
  setText = function(job, letter, value, apart)
    local fields = job.fields
    if apart or fields.apart then
      local letters = fields.apart or ''
      letters = letters:gsub(letter, '') .. (apart and letter or '')
      fields.apart = letters ~= '' and letters or nil
      unitOfWork.pending('longTexts')[letter .. job.id] = apart or false
    end
    if letter == 'd' then job.data = '\31:' .. value else fields[TEXTS[letter]] = value end
  end,

  -- Clears what is kept for the next attempt: the checkpoint and the steps (steps.lua).
  clearKept = function(job)
    recordChanges.setText(job, 'v', nil)
    if not job.fields.steps then return end
    job.fields.steps = nil
    table.insert(unitOfWork.pending('steps'), { 'DEL', P .. 'steps:' .. job.id })
  end,

  -- Sets a text that came with a request.
  setRequestText = function(job, letter, value, request)
    recordChanges.setText(job, letter, value, request.texts and request.texts[letter])
  end,
}
