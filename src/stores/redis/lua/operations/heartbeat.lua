-- heartbeat: renews leases and stores progress, checkpoint and data. It adds no history.
-- ARGV: clock, then for each: id, and \31 token, and optional leaseMs, started, percent, text, checkpoint, data.
-- Returns for each the lease's end, with c if a cancel and p if a pause is requested; or a refusal.
-- uses: values, context, events, operation, record, record-changes, unit-of-work
-- on demand: outbox
operation.begin()

local function keep(job, request)
  local fields = job.fields
  if request.started then
    fields.startedAt = fields.startedAt or context.nowText
    fields.pid = request.started ~= '-' and request.started or nil
  end
  local before = tonumber((fields.progress or ''):match('^%S+'))
  if request.percent then
    fields.progress = request.percent .. ' ' .. context.nowText .. (request.text and '\30' .. request.text or '')
  end
  if request.checkpoint then recordChanges.setRequestText(job, 'v', request.checkpoint, request) end
  if request.data then recordChanges.setRequestText(job, 'd', request.data, request) end
  if request.percent or request.started then events.emit('progress', job.queue, 'running', job.id) end
  if request.percent and (fields.hooks or context.webhookQueues) then
    require('outbox').addProgressWebhooks(job, before, tonumber(request.percent))
  end
end

return operation.forEach(function(job, request)
  if not job then return '!not-found' end
  if not record.holds(job, request.token) then return '!lease-lost' end
  unitOfWork.touch(job)
  local lease, fields = record.leaseOf(job), job.fields
  lease.ms = tonumber(request.leaseMs) or lease.ms
  lease.to = context.now + lease.ms
  recordChanges.setLease(job, lease)
  keep(job, request)
  return text(lease.to) .. (fields.cancelAskedAt and 'c' or '') .. (fields.pauseAskedAt and 'p' or '')
end)
