-- workers: who is registered and what it runs. ARGV: clock.
-- Returns the time, then for each worker: id, its record, and the ids of its jobs.
clock.look()

local running = {}
for _, job in ipairs(census.running()) do
  local worker = record.lease(job).worker
  running[worker] = running[worker] or {}
  table.insert(running[worker], job.id)
end
local answer, workers = { clock.nowText }, call('HGETALL', P .. 'workers')
for i = 1, #workers, 2 do
  answer[#answer + 1] = workers[i]
  answer[#answer + 1] = workers[i + 1]
  answer[#answer + 1] = table.concat(running[workers[i]] or {}, '\31')
end
return answer
