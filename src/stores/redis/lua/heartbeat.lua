-- heartbeat: leases are renewed, and what comes with it is kept. Not history.
-- ARGV: clock, then for each: id, and \31 token, leaseMs, started, percent, text, checkpoint, data as far as said.
-- Returns for each the lease's end, with c when a cancel and p when a pause is asked for; or a refusal.
begin()

local function keep(job, said)
  local fields = job.fields
  if said.started then
    fields.startedAt = fields.startedAt or clock.nowText
    fields.pid = said.started ~= '-' and said.started or nil
  end
  local before = tonumber((fields.progress or ''):match('^%S+'))
  if said.percent then
    fields.progress = said.percent .. ' ' .. clock.nowText .. (said.text and '\30' .. said.text or '')
  end
  if said.checkpoint then record.say(job, 'v', said.checkpoint, said) end
  if said.data then record.say(job, 'd', said.data, said) end
  if said.percent or said.started then work.emit('progress', job.queue, 'running', job.id) end
  if said.percent and (fields.hooks or clock.hooked) then outbox.tellProgress(job, before, tonumber(said.percent)) end
end

return forEach(function(job, said)
  if not job then return '!not-found' end
  if not record.holds(job, said.token) then return '!lease-lost' end
  work.touch(job)
  local lease, fields = record.lease(job), job.fields
  lease.ms = tonumber(said.leaseMs) or lease.ms
  lease.to = clock.now + lease.ms
  record.renewLease(job, lease)
  keep(job, said)
  return text(lease.to) .. (fields.cancelAskedAt and 'c' or '') .. (fields.pauseAskedAt and 'p' or '')
end)
