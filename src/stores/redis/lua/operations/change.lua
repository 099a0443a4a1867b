-- change: what may be changed of a job without ending its attempt or its place in life.
-- ARGV: clock, then for each: id, and \31 attempt, priority, tags (or untag), runAt, name, note, data, pause, waitFor and partFrom
-- (ids of other jobs) as far as said.
-- Returns the state or a refusal for each.
-- uses: values, context, lifecycle, operation, record, record-changes, unit-of-work
-- on demand: dependencies, find-parents, parking
operation.begin()

local function refusalOf(job, said)
  local state = STATE[job.place]
  local isOpen = state == 'waiting' or state == 'draft'
  if not isOpen and (said.data or said.runAt or said.waitFor or said.partFrom) then return '!wrong-state ' .. state .. ' change' end
  if not isOpen and state ~= 'running' and said.priority then return '!wrong-state ' .. state .. ' change' end
  if state ~= 'running' and said.pause then return '!wrong-state ' .. state .. ' change' end
end

-- A plain job keeps its place in the fifo as long as its order is the same.
local function changeOrder(job, said)
  local priority, runAt = number(job.fields.priority), record.runAtOf(job)
  recordChanges.setNumber(job, 'priority', tonumber(said.priority) or priority)
  if said.runAt then
    lifecycle.withRunAt(job, tonumber(said.runAt))
    if job.place ~= 'p' then job.fields.delayMs = nil end
  end
  local isSame = number(job.fields.priority) == priority and record.runAtOf(job) == runAt
  if job.place == 'f' and not isSame then job.place = 'w' end
end

-- A plain job stays where it is unless it has something to wait for.
local function waitAnew(job)
  local place = job.place
  lifecycle.wait(job)
  if place == 'f' and job.place == 'w' then job.place = 'f' end
end

-- Those to wait for no longer. One that is also to be waited for stays.
local function partedFrom(said)
  local kept, ids, parents = ' ' .. (said.waitFor or '') .. ' ', {}, {}
  for id in (said.partFrom or ''):gmatch('%S+') do
    if not kept:find(' ' .. id .. ' ', 1, true) then ids[#ids + 1] = id end
  end
  record.load(ids)
  for i = 1, #ids do
    local parent = context.jobs[ids[i]]
    if parent and not parent.isDeleted then parents[#parents + 1] = parent end
  end
  return parents
end

return operation.forEach(function(job, said)
  local refusal
  job, refusal = operation.target(job, said)
  refusal = refusal or refusalOf(job, said)
  if refusal then return refusal end
  local parents
  if said.waitFor then parents, refusal = require('find-parents').findParents(job.id, said.waitFor, job) end
  if refusal then return refusal end
  unitOfWork.touch(job)
  if STATE[job.place] == 'waiting' then require('parking').unparkBehind(job) end
  if job.place == 'k' then job.place = 'w' end
  if said.tags or said.untag then job.fields.tags = said.tags end
  changeOrder(job, said)
  if said.name then job.fields.name = said.name end
  if said.data or said.runAt or said.waitFor or said.partFrom then job.fields.into = nil end
  if said.data then recordChanges.setRequestText(job, 'd', said.data, said) end
  if said.pause then job.fields.pauseAskedAt = said.pause == 'yes' and context.nowText or nil end
  if said.partFrom then require('dependencies').stopWaiting(job, partedFrom(said)) end
  if parents then parents = require('dependencies').withParents(job, parents) end
  if STATE[job.place] == 'waiting' and (job.place == 'b' or job.fields.parents) then waitAnew(job) end
  lifecycle.apply(job, 'changed', { note = said.note })
  if parents then require('dependencies').waitFor(job, parents) end
  return STATE[job.place]
end)
