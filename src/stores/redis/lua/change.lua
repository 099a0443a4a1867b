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

-- A plain job keeps its place in the fifo as long as its order is the same.
local function changeOrder(job, said)
  local priority, runAt = number(job.fields.priority), record.runAt(job)
  record.setNumber(job, 'priority', tonumber(said.priority) or priority)
  record.setRunAt(job, tonumber(said.runAt) or runAt)
  local isSame = number(job.fields.priority) == priority and record.runAt(job) == runAt
  if job.place == 'f' and not isSame then job.place = 'w' end
end

return forEach(function(job, said)
  local refusal
  job, refusal = target(job, said)
  refusal = refusal or refusalOf(job, said)
  if refusal then return refusal end
  work.touch(job)
  if said.tags or said.untag then job.fields.tags = said.tags end
  changeOrder(job, said)
  if said.name then job.fields.name = said.name end
  if said.data then record.say(job, 'd', said.data, said) end
  if said.pause then job.fields.pauseAskedAt = said.pause == 'yes' and clock.nowText or nil end
  life.apply(job, 'changed', {})
  return STATE[job.place]
end)
