-- heartbeat: leases are renewed, and what comes with it is kept. Not history.
-- ARGV: clock, then for each: id, and \31 token, leaseMs, started, percent, text, checkpoint, data as far as said.
-- Returns for each the lease's end, with c when a cancel and p when a pause is asked for; or a refusal.
begin()

local function beat(job, said)
  local lease, fields = leaseOf(job), job.fields
  lease.ms = tonumber(said.leaseMs) or lease.ms
  lease.to = now + lease.ms
  if said.started then
    if lease.startedAt == '-' then lease.startedAt = text(now) end
    lease.pid = said.started
  end
  setLease(job, lease)
  if said.percent then
    fields.progress = said.percent .. ' ' .. text(now) .. (said.text and '\30' .. said.text or '')
  end
  if said.checkpoint then sayText(job, 'v', said.checkpoint, said) end
  if said.data then sayText(job, 'd', said.data, said) end
  return lease
end

return forEach(function(id, said)
  local job = jobs[id]
  if not job then return '!not-found' end
  if not holds(job, said.token) then return '!lease-lost' end
  touch(job)
  local lease = beat(job, said)
  if said.percent or said.started then emit('progress', job.queue, 'running', id) end
  return text(lease.to) .. (lease.cancelAskedAt ~= '-' and 'c' or '') .. (lease.pauseAskedAt ~= '-' and 'p' or '')
end)
