-- workers: the registered workers and their jobs. ARGV: clock.
-- Returns the time, then for each worker: id, its record, and the ids of its jobs.
-- uses: clock, context, queues, record
clock.readClock()

local running = {}
for _, job in ipairs(queues.runningJobs()) do
  local worker = record.leaseOf(job).worker
  running[worker] = running[worker] or {}
  table.insert(running[worker], job.id)
end
local answer, workers = { context.nowText }, call('HGETALL', P .. 'workers')
for i = 1, #workers, 2 do
  answer[#answer + 1] = workers[i]
  answer[#answer + 1] = workers[i + 1]
  answer[#answer + 1] = table.concat(running[workers[i]] or {}, '\31')
end
return answer
