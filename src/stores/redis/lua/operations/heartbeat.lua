-- heartbeat: leases are renewed, and what comes with it is kept. Not history.
-- ARGV: clock, then for each: id, and \31 token, leaseMs, started, percent, text, checkpoint, data as far as said.
-- Returns for each the lease's end, with c when a cancel and p when a pause is asked for; or a refusal.
-- uses: values, context, events, operation, record, record-changes, unit-of-work
-- on demand: outbox
operation.begin()

local function keep(job, said)
  local fields = job.fields
  if said.started then
    fields.startedAt = fields.startedAt or context.nowText
    fields.pid = said.started ~= '-' and said.started or nil
  end
  local before = tonumber((fields.progress or ''):match('^%S+'))
  if said.percent then
    fields.progress = said.percent .. ' ' .. context.nowText .. (said.text and '\30' .. said.text or '')
  end
  if said.checkpoint then recordChanges.setRequestText(job, 'v', said.checkpoint, said) end
  if said.data then recordChanges.setRequestText(job, 'd', said.data, said) end
  if said.percent or said.started then events.emit('progress', job.queue, 'running', job.id) end
  if said.percent and (fields.hooks or context.webhookQueues) then require('outbox').addProgressWebhooks(job, before, tonumber(said.percent)) end
end

return operation.forEach(function(job, said)
  if not job then return '!not-found' end
  if not record.holds(job, said.token) then return '!lease-lost' end
  unitOfWork.touch(job)
  local lease, fields = record.leaseOf(job), job.fields
  lease.ms = tonumber(said.leaseMs) or lease.ms
  lease.to = context.now + lease.ms
  recordChanges.setLease(job, lease)
  keep(job, said)
  return text(lease.to) .. (fields.cancelAskedAt and 'c' or '') .. (fields.pauseAskedAt and 'p' or '')
end)
