-- change: changes properties of jobs that do not change their state.
-- ARGV: clock, then for each: id, and optional \31 attempt, priority, tags (or untag), runAt, name, note, data, pause, waitFor and
-- partFrom (ids of other jobs).
-- Returns the state or a refusal for each.
-- uses: values, context, lifecycle, operation, record, record-changes, unit-of-work
-- on demand: dependencies, find-parents, parking
operation.begin()

local function refusalOf(job, request)
  local state = STATE[job.place]
  local isOpen = state == 'waiting' or state == 'draft'
  local isOpenOnly = request.data or request.runAt or request.waitFor or request.partFrom
  if not isOpen and isOpenOnly then return '!wrong-state ' .. state .. ' change' end
  if not isOpen and state ~= 'running' and request.priority then return '!wrong-state ' .. state .. ' change' end
  if state ~= 'running' and request.pause then return '!wrong-state ' .. state .. ' change' end
end

-- Changes priority and run time. A plain job stays in the fifo if both remain the same.
local function changeOrder(job, request)
  local priority, runAt = number(job.fields.priority), record.runAtOf(job)
  recordChanges.setNumber(job, 'priority', tonumber(request.priority) or priority)
  if request.runAt then
    lifecycle.withRunAt(job, tonumber(request.runAt))
    if job.place ~= 'p' then job.fields.delayMs = nil end
  end
  local isSame = number(job.fields.priority) == priority and record.runAtOf(job) == runAt
  if job.place == 'f' and not isSame then job.place = 'w' end
end

-- Makes a job wait again. A plain job stays in the fifo unless it is blocked.
local function waitAnew(job)
  local place = job.place
  lifecycle.wait(job)
  if place == 'f' and job.place == 'w' then job.place = 'f' end
end

-- Returns the parents to remove. One that is in waitFor too stays.
local function partedFrom(request)
  local kept, ids, parents = ' ' .. (request.waitFor or '') .. ' ', {}, {}
  for id in (request.partFrom or ''):gmatch('%S+') do
    if not kept:find(' ' .. id .. ' ', 1, true) then ids[#ids + 1] = id end
  end
  record.load(ids)
  for i = 1, #ids do
    local parent = context.jobs[ids[i]]
    if parent and not parent.isDeleted then parents[#parents + 1] = parent end
  end
  return parents
end

return operation.forEach(function(job, request)
  local refusal
  job, refusal = operation.target(job, request)
  refusal = refusal or refusalOf(job, request)
  if refusal then return refusal end
  local parents
  if request.waitFor then parents, refusal = require('find-parents').findParents(job.id, request.waitFor, job) end
  if refusal then return refusal end
  unitOfWork.touch(job)
  if STATE[job.place] == 'waiting' then require('parking').unparkBehind(job) end
  if job.place == 'k' then job.place = 'w' end
  if request.tags or request.untag then job.fields.tags = request.tags end
  changeOrder(job, request)
  if request.name then job.fields.name = request.name end
  if request.data or request.runAt or request.waitFor or request.partFrom then job.fields.into = nil end
  if request.data then recordChanges.setRequestText(job, 'd', request.data, request) end
  if request.pause then job.fields.pauseAskedAt = request.pause == 'yes' and context.nowText or nil end
  if request.partFrom then require('dependencies').stopWaiting(job, partedFrom(request)) end
  if parents then parents = require('dependencies').withParents(job, parents) end
  if STATE[job.place] == 'waiting' and (job.place == 'b' or job.fields.parents) then waitAnew(job) end
  lifecycle.apply(job, 'changed', { note = request.note })
  if parents then require('dependencies').waitFor(job, parents) end
  return STATE[job.place]
end)
