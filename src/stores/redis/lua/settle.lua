-- settle: what a worker says of its attempt, heard only under the token of the lease.
-- ARGV: clock, then for each: id, and its kind with \31 token and what belongs to the kind.
-- Returns the state or a refusal for each. What was said before is answered the same again.
begin()

local ENDING = {
  complete = 'completed', fail = 'failed', retry = 'retried', resend = 'resent', release = 'released', forward = 'forwarded',
}

local settle = {}

function settle.complete(job, said)
  if said.data then sayText(job, 'd', said.data, said) end
  if not said.next then
    ended(job, 'd')
    sayText(job, 'r', said.result, said)
    setFailure(job, nil, nil, nil)
    return 'completed'
  end
  fresh(job)
  goTo(job, said.next)
  setRunAt(job, now + number(said.delayMs))
  setText(job, 'v', nil)
  job.fields.interruptions = nil
  return 'advanced', said.next
end

function settle.forward(job, said)
  ended(job, 'd')
  job.fields.forwardedTo = said.address
  setFailure(job, nil, nil, nil)
  return 'forwarded', said.address
end

function settle.fail(job, said, kind)
  local settings = settingsOf(job.queue)
  local failures = number(job.fields.failures) + 1
  local name = said.group
  setNumber(job, 'failures', failures)
  if failures <= retriesOf(job, settings) and not said.final then
    job.place = 'w'
    setLease(job, nil)
    setRunAt(job, now + number(said.delayMs))
  else
    ended(job, 'x')
    if kind == 'retry' then name = orNil(settings.exhaustedGroup) or name end
  end
  setFailure(job, name, said.message, said.detail, said)
  return ENDING[kind], said.message
end
settle.retry = settle.fail

function settle.resend(job, said)
  local resends = number(job.fields.resends)
  if resends >= (tonumber(job.fields.maxResends) or settingsOf(job.queue).maxResends) then
    ended(job, 'x')
    setFailure(job, 'resends', 'hit the limit of resends', said.reason)
  else
    job.place = 'w'
    setLease(job, nil)
    setNumber(job, 'resends', resends + 1)
    setRunAt(job, now + number(said.delayMs))
  end
  return 'resent', said.reason
end

function settle.release(job, said)
  returned(job, now, now)
  setNumber(job, 'interruptions', number(job.fields.interruptions) + 1)
  return 'released', said.reason
end

-- Rows of a history as far as a late word needs them.
local function rowsOf(job)
  local rows = {}
  for row in gmatch(job.rows, '\31%+([^\31]*)') do
    local event, place, token, rest = match(row, '^(.)(.)%S+ %S+ ?(%d*)(.*)$')
    rows[#rows + 1] = { event = event, place = place, token = token, note = match(rest, '\30n(.*)$') }
  end
  return rows
end

local function endingOf(rows, token)
  local SILENT = { [EVENT.claimed] = true, [EVENT.late] = true, [EVENT['cancel-asked']] = true }
  for i = #rows, 1, -1 do
    if rows[i].token == token and not SILENT[rows[i].event] then return rows[i] end
  end
end

local function isSameEnding(row, kind)
  if row.event == EVENT.cancelled then return row.note == kind end
  return row.event == EVENT[ENDING[kind]] or (kind == 'complete' and row.event == EVENT.advanced)
end

local function hasRoomForLate(rows, token, note)
  local count = 0
  for i = 1, #rows do
    if rows[i].event == EVENT.late then
      count = count + 1
      if rows[i].token == token and rows[i].note == note then return false end
    end
  end
  return count < MAX_LATE_ROWS
end

local function lateWords(said)
  local result = said.texts and said.texts.r or said.result
  return result or said.message or said.reason or said.address or ''
end

-- Said before: answered the same again. Overtaken: refused, but what it wanted to say is kept.
local function answerLate(job, said, kind)
  local rows = rowsOf(job)
  local ending = endingOf(rows, said.token)
  if ending and isSameEnding(ending, kind) then return STATE[ending.place] end
  local note = cut(kind .. ': ' .. lateWords(said))
  if hasRoomForLate(rows, said.token, note) then
    touch(job)
    remember(job, 'late', said.token, nil, note)
  end
  return '!lease-lost'
end

return forEach(function(id, said, kind)
  local job = jobs[id]
  if not job then return '!not-found' end
  if not holds(job, said.token) then return answerLate(job, said, kind) end
  touch(job)
  local lease, queue = leaseOf(job), job.queue
  local event, note = 'cancelled', kind
  if lease.cancelAskedAt ~= '-' then ended(job, 'c') else event, note = settle[kind](job, said, kind) end
  apply(job, event, { token = lease.token, by = lease.worker, note = note, from = queue })
  return STATE[job.place]
end)
