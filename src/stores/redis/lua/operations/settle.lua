-- settle: applies the outcomes of attempts whose lease the caller holds.
-- ARGV: clock, then for each: id, and its kind with \31 token and the fields of the kind.
-- Returns the state or a refusal for each. A repeated settlement gets the same answer again.
-- uses: values, context, indexes, lifecycle, operation, queue-settings, record, record-changes, unit-of-work
-- on demand: buckets, dependencies, find-parents, lost-leases, suspension, turns
operation.begin()

local ENDING = {
  complete = 'completed', fail = 'failed', retry = 'retried', resend = 'resent', release = 'released',
  crash = 'lost', forward = 'forwarded', suspend = 'suspended',
}

-- Functions by kind: each changes the job and returns the history event and its note.
local settle = {}

function settle.complete(job, request)
  if request.data then recordChanges.setRequestText(job, 'd', request.data, request) end
  if not request.next then
    lifecycle.ended(job, 'd')
    recordChanges.setRequestText(job, 'r', request.result, request)
    lifecycle.setFailure(job, nil, nil, nil)
    return 'completed'
  end
  lifecycle.restarted(job)
  indexes.changeQueue(job, request.next)
  recordChanges.setDue(job, number(request.delayMs))
  recordChanges.clearKept(job)
  job.fields.interruptions = nil
  require('turns').withTurn(job)
  return 'advanced', request.next
end

function settle.forward(job, request)
  lifecycle.ended(job, 'd')
  job.fields.forwardedTo = request.address
  lifecycle.setFailure(job, nil, nil, nil)
  return 'forwarded', request.address
end

function settle.fail(job, request, kind)
  local settings, group = queueSettings.settingsOf(job.queue), request.group
  local failures = number(job.fields.failures) + 1
  recordChanges.setNumber(job, 'failures', failures)
  if failures <= require('lost-leases').retriesOf(job, settings) and not request.final then
    job.place = 'w'
    lifecycle.withoutLease(job)
    recordChanges.setDue(job, number(request.delayMs))
  else
    lifecycle.ended(job, 'x')
    if kind == 'retry' then group = orNil(settings.exhaustedGroup) or group end
  end
  lifecycle.setFailure(job, group, request.message, request.detail, request.texts and request.texts.t)
  return ENDING[kind], request.message
end
settle.retry = settle.fail

function settle.resend(job, request)
  local resends = number(job.fields.resends)
  if resends >= (tonumber(job.fields.maxResends) or queueSettings.settingsOf(job.queue).maxResends) then
    lifecycle.ended(job, 'x')
    lifecycle.setFailure(job, 'resends', 'hit the limit of resends', request.reason)
  else
    job.place = 'w'
    lifecycle.withoutLease(job)
    recordChanges.setNumber(job, 'resends', resends + 1)
    recordChanges.setDue(job, number(request.delayMs))
  end
  return 'resent', request.reason
end

function settle.release(job, request)
  lifecycle.returned(job, context.now, 0)
  recordChanges.setNumber(job, 'interruptions', number(job.fields.interruptions) + 1)
  return 'released', request.reason
end

function settle.crash(job, request)
  require('lost-leases').lost(job, queueSettings.settingsOf(job.queue), request.reason)
  return 'lost', request.reason
end

function settle.suspend(job, request)
  return 'suspended', require('suspension').suspend(job, request)
end

local function rowsOf(job)
  local rows = {}
  for row in job.rows:gmatch('\31%+([^\31]*)') do
    local event, place, token, rest = row:match('^(.)(.)%S+ %S+ ?(%d*)(.*)$')
    rows[#rows + 1] = { event = event, place = place, token = token, note = rest:match('\30n(.*)$') }
  end
  return rows
end

-- Returns the row that ended the attempt of a token, if it is still in the history.
local function endingOf(rows, token)
  local silent = { [K.EVENT.claimed] = true, [K.EVENT.resumed] = true, [K.EVENT.late] = true, [K.EVENT['cancel-asked']] = true }
  for i = #rows, 1, -1 do
    if rows[i].token == token and not silent[rows[i].event] then return rows[i] end
  end
end

local function isSameEnding(row, kind)
  if row.event == K.EVENT.cancelled then return ((row.note or '') .. ': '):sub(1, #kind + 2) == kind .. ': ' end
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

-- Answers a settlement without the lease: the same answer for a repeated one; otherwise a refusal, with a row in the history.
local function answerLate(job, request, kind)
  local rows = rowsOf(job)
  local ending = endingOf(rows, request.token)
  if ending and isSameEnding(ending, kind) then return STATE[ending.place] end
  local result = request.texts and request.texts.r or request.result
  local note = lifecycle.cutNote(kind .. ': ' .. (result or request.message or request.reason or request.address or request.event or ''))
  if hasRoomForLate(rows, request.token, note) then
    unitOfWork.touch(job)
    lifecycle.appendRow(job, 'late', request.token, nil, note)
  end
  return '!lease-lost'
end

return operation.forEach(function(job, request, kind)
  if not job then return '!not-found' end
  if not record.holds(job, request.token) then return answerLate(job, request, kind) end
  local hasDependents, parents, refusal = job.fields.dependents, nil, nil
  if request.children then request.dependsOn = require('suspension').existing(request.children) end
  if request.dependsOn and not job.fields.cancelAskedAt then
    parents, refusal = require('find-parents').findParents(job.id, request.dependsOn, job)
  end
  if refusal then return refusal end
  unitOfWork.touch(job)
  if request.throttle then
    local buckets = require('buckets')
    buckets.close(buckets.bucketOf(job, request.throttle), context.now + request.delayMs)
  end
  local lease, queue, event, note = job.lease, job.queue, 'cancelled', kind
  if kind == 'release' then note = kind .. ': ' .. request.reason end
  if job.fields.cancelAskedAt then lifecycle.ended(job, 'c') else event, note = settle[kind](job, request, kind) end
  if parents then
    parents = require('dependencies').withParents(job, parents)
    lifecycle.wait(job)
  end
  lifecycle.apply(job, event, { token = lease.token, by = lease.worker, note = note, from = queue })
  local line = job.followers or {}
  if hasDependents and not parents then table.insert(line, 1, { job = job, wasUnsuccessful = false }) end
  if #line > 0 then require('dependencies').notifyDependents(line) end
  if parents then require('dependencies').waitFor(job, parents) end
  return STATE[job.place]
end)
