-- change: what may be changed of a job without ending its attempt or its place in life.
-- ARGV: clock, then for each: id, and \31 attempt, priority, tags (or untag), runAt, name, data, pause as far as said.
-- Returns the state or a refusal for each.
begin()

local function refusalOf(job, said)
  local state = STATE[job.place]
  local isOpen = state == 'waiting' or state == 'draft'
  if not isOpen and (said.data or said.runAt) then return '!wrong-state' end
  if not isOpen and state ~= 'running' and said.priority then return '!wrong-state' end
  if state ~= 'running' and said.pause then return '!wrong-state' end
end

local function changeTags(job, said)
  if not said.tags and not said.untag then return end
  putTags(job, false)
  job.fields.tags = said.tags
  putTags(job, tonumber(job.seq))
end

-- A plain job keeps its place in the fifo as long as its order is the same.
local function changeOrder(job, said)
  local priority, runAt = number(job.fields.priority), runAtOf(job)
  setNumber(job, 'priority', tonumber(said.priority) or priority)
  setRunAt(job, tonumber(said.runAt) or runAt)
  if job.place == 'f' and (number(job.fields.priority) ~= priority or runAtOf(job) ~= runAt) then job.place = 'w' end
end

return forEach(function(id, said)
  local job, refusal = target(id, said)
  refusal = refusal or refusalOf(job, said)
  if refusal then return refusal end
  touch(job)
  changeTags(job, said)
  changeOrder(job, said)
  if said.name then job.fields.name = said.name end
  if said.data then sayText(job, 'd', said.data, said) end
  if said.pause then
    local lease = leaseOf(job)
    lease.pauseAskedAt = said.pause == 'yes' and text(now) or '-'
    setLease(job, lease)
  end
  apply(job, 'changed', {})
  return STATE[job.place]
end)
