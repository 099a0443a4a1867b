-- settle: what a worker says of its attempt, heard only under the token of the lease.
-- ARGV: clock, then for each: id, and its kind with \31 token and what belongs to the kind.
-- Returns the state or a refusal for each. What was said before is answered the same again.
-- uses: values, context, indexes, lifecycle, operation, queue-settings, record, record-changes, unit-of-work
-- on demand: dependencies, find-parents, lost-leases, turns
operation.begin()

local ENDING = {
  complete = 'completed', fail = 'failed', retry = 'retried', resend = 'resent', release = 'released',
  crash = 'lost', forward = 'forwarded',
}

-- For each kind: changes the job, and answers the event of the history and its note.
local settle = {}

function settle.complete(job, said)
  if said.data then recordChanges.setRequestText(job, 'd', said.data, said) end
  if not said.next then
    lifecycle.ended(job, 'd')
    recordChanges.setRequestText(job, 'r', said.result, said)
    lifecycle.setFailure(job, nil, nil, nil)
    return 'completed'
  end
  lifecycle.restarted(job)
  indexes.changeQueue(job, said.next)
  recordChanges.setDue(job, number(said.delayMs))
  recordChanges.setText(job, 'v', nil)
  job.fields.interruptions = nil
  require('turns').withTurn(job)
  return 'advanced', said.next
end

function settle.forward(job, said)
  lifecycle.ended(job, 'd')
  job.fields.forwardedTo = said.address
  lifecycle.setFailure(job, nil, nil, nil)
  return 'forwarded', said.address
end

function settle.fail(job, said, kind)
  local settings, group = queueSettings.settingsOf(job.queue), said.group
  local failures = number(job.fields.failures) + 1
  recordChanges.setNumber(job, 'failures', failures)
  if failures <= require('lost-leases').retriesOf(job, settings) and not said.final then
    job.place = 'w'
    lifecycle.withoutLease(job)
    recordChanges.setDue(job, number(said.delayMs))
  else
    lifecycle.ended(job, 'x')
    if kind == 'retry' then group = orNil(settings.exhaustedGroup) or group end
  end
  lifecycle.setFailure(job, group, said.message, said.detail, said.texts and said.texts.t)
  return ENDING[kind], said.message
end
settle.retry = settle.fail

function settle.resend(job, said)
  local resends = number(job.fields.resends)
  if resends >= (tonumber(job.fields.maxResends) or queueSettings.settingsOf(job.queue).maxResends) then
    lifecycle.ended(job, 'x')
    lifecycle.setFailure(job, 'resends', 'hit the limit of resends', said.reason)
  else
    job.place = 'w'
    lifecycle.withoutLease(job)
    recordChanges.setNumber(job, 'resends', resends + 1)
    recordChanges.setDue(job, number(said.delayMs))
  end
  return 'resent', said.reason
end

function settle.release(job, said)
  lifecycle.returned(job, context.now, 0)
  recordChanges.setNumber(job, 'interruptions', number(job.fields.interruptions) + 1)
  return 'released', said.reason
end

function settle.crash(job, said)
  require('lost-leases').lost(job, queueSettings.settingsOf(job.queue), said.reason)
  return 'lost', said.reason
end

-- ── a word that comes too late ──

local function rowsOf(job)
  local rows = {}
  for row in job.rows:gmatch('\31%+([^\31]*)') do
    local event, place, token, rest = row:match('^(.)(.)%S+ %S+ ?(%d*)(.*)$')
    rows[#rows + 1] = { event = event, place = place, token = token, note = rest:match('\30n(.*)$') }
  end
  return rows
end

-- The row that ended the attempt of this token, if it is still known.
local function endingOf(rows, token)
  local silent = { [K.EVENT.claimed] = true, [K.EVENT.late] = true, [K.EVENT['cancel-asked']] = true }
  for i = #rows, 1, -1 do
    if rows[i].token == token and not silent[rows[i].event] then return rows[i] end
  end
end

local function isSameEnding(row, kind)
  if row.event == K.EVENT.cancelled then return row.note == kind end
  return row.event == K.EVENT[ENDING[kind]] or (kind == 'complete' and row.event == K.EVENT.advanced)
end

local function hasRoomForLate(rows, token, note)
  local count = 0
  for i = 1, #rows do
    if rows[i].event == K.EVENT.late then
      count = count + 1
      if rows[i].token == token and rows[i].note == note then return false end
    end
  end
  return count < K.MAX_LATE_ROWS
end

-- Said before: answered the same again. Overtaken: refused, but what it wanted to say is kept.
local function answerLate(job, said, kind)
  local rows = rowsOf(job)
  local ending = endingOf(rows, said.token)
  if ending and isSameEnding(ending, kind) then return STATE[ending.place] end
  local result = said.texts and said.texts.r or said.result
  local note = lifecycle.cutNote(kind .. ': ' .. (result or said.message or said.reason or said.address or ''))
  if hasRoomForLate(rows, said.token, note) then
    unitOfWork.touch(job)
    lifecycle.appendRow(job, 'late', said.token, nil, note)
  end
  return '!lease-lost'
end

return operation.forEach(function(job, said, kind)
  if not job then return '!not-found' end
  if not record.holds(job, said.token) then return answerLate(job, said, kind) end
  local hasDependents, parents, refusal = job.fields.dependents, nil, nil
  if said.dependsOn and not job.fields.cancelAskedAt then parents, refusal = require('find-parents').findParents(job.id, said.dependsOn, job) end
  if refusal then return refusal end
  unitOfWork.touch(job)
  local lease, queue, event, note = job.lease, job.queue, 'cancelled', kind
  if job.fields.cancelAskedAt then lifecycle.ended(job, 'c') else event, note = settle[kind](job, said, kind) end
  if parents then
    parents = require('dependencies').withParents(job, parents)
    lifecycle.wait(job)
  end
  lifecycle.apply(job, event, { token = lease.token, by = lease.worker, note = note, from = queue })
  local line = job.followers or {}
  if hasDependents and not parents then table.insert(line, 1, { job = job, wasBad = false }) end
  if #line > 0 then require('dependencies').notifyDependents(line) end
  if parents then require('dependencies').waitFor(job, parents) end
  return STATE[job.place]
end)
