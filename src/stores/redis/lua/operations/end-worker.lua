-- end-worker: fails a worker and returns its jobs at once; or deregisters it, and its leases remain.
-- ARGV: clock, id, fail or deregister. Returns how many jobs were returned, or a refusal.
-- uses: values, events, operation, queue-settings, queues, record, unit-of-work
-- on demand: lost-leases
operation.begin()

local _, id, kind = unpack(args)

-- Returns its jobs, the oldest lease first, so that returned jobs keep their order.
local function heldBy()
  local held = {}
  for _, job in ipairs(kind == 'fail' and queues.runningJobs() or {}) do
    if record.leaseOf(job).worker == id then held[#held + 1] = job end
  end
  table.sort(held, function(a, b)
    if a.lease.to ~= b.lease.to then return a.lease.to < b.lease.to end
    return tonumber(a.seq) < tonumber(b.seq)
  end)
  return held
end

local held = heldBy()
local isKnown = call('HEXISTS', P .. 'workers', id) == 1
for i = 1, #held do
  require('lost-leases').endLostAttempt(held[i], queueSettings.settingsOf(held[i].queue), 'its worker was failed')
end
unitOfWork.flush()
events.publish()
if not isKnown and #held == 0 then return '!worker-lost' end
write('HDEL', P .. 'j', '@' .. id)
write('HDEL', P .. 'workers', id)
return text(#held)
