-- suspension: suspends an attempt (core/lifecycle/lifecycle.ts). The record has run time so far, wake time or -, and the event as
-- `suspended`, also while the resumed attempt runs.
-- uses: values, context, lifecycle, record, record-changes

local suspension = {}

-- Suspends a running job. Returns the note of the history.
function suspension.suspend(job, request)
  local event, to, ranMs = request.event, tonumber(request['until']), number((job.fields.suspended or ''):match('^%S+'))
  ranMs = ranMs + math.max(0, context.now - record.leaseOf(job).claimedAt)
  local step = event and job.fields.steps and call('HGET', P .. 'steps:' .. job.id, 'event:' .. event)
  if step and step:find('^%d+ arrived ') then to = context.now end
  job.place = 'w'
  lifecycle.withoutLease(job)
  recordChanges.setRunAt(job, to or (event and K.NEVER or context.now))
  job.fields.delayMs = nil
  job.fields.suspended = text(ranMs) .. ' ' .. (to and text(to) or '-') .. (event and ' ' .. event or '')
  if request.children then return 'waiting for ' .. select(2, request.children:gsub('%S+', '')) .. ' jobs' end
  return event and 'waiting for ' .. event or 'sleeping'
end

-- Returns those ids of a list that belong to jobs; nil if there are none.
function suspension.existing(list)
  local ids = {}
  for id in list:gmatch('%S+') do ids[#ids + 1] = id end
  record.load(ids)
  local found = list:gsub('%S+', function(id)
    local job = context.jobs[id]
    if not job or job.isDeleted then return '' end
  end)
  return found:find('%S') and found
end

return suspension
