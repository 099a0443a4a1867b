-- find-parents: finds the parents of a job, or refuses (core/operations/dependents.ts).
-- uses: values, context, queues, record
-- on demand: dependencies, edges

local edges = require('edges')
local dependencies = require('dependencies')
local findParents = {}

local function refuseDependency(problem, ids, count)
  local parts = { '!bad-dependency', problem, ('%d'):format(count or #ids) }
  for i = 1, math.min(K.MAX_NAMED, #ids) do parts[#parts + 1] = ids[i] end
  return table.concat(parts, ' ')
end

-- Refuses a cycle: only a job with dependents can close one, with one of them as its parent.
local function cycleProblem(known, parents)
  if not known or not known.fields.dependents then return nil end
  local open, circular, any = {}, {}, false
  for i = 1, #parents do
    if parents[i].place ~= 'd' then open[parents[i].id], any = true, true end
  end
  if not any then return nil end
  local below = findParents.descendants(known, K.MAX_WALKED, function() return true end)
  if not below then return refuseDependency('too-large', {}) end
  for i = 1, #below do
    if open[below[i].id] then circular[#circular + 1] = below[i].id end
  end
  table.sort(circular, queues.isByteBefore)
  return #circular > 0 and refuseDependency('cycle', circular) or nil
end

-- Returns all jobs that wait for a job, directly or not, the nearest first; nil if there are more than `max`.
function findParents.descendants(job, most, isMeant)
  local line, known, at = { job }, { [job.id] = true }, 1
  while line[at] do
    for _, child in ipairs(line[at].fields.dependents and edges.openChildren(line[at]) or {}) do
      if not known[child.id] and isMeant(child) then
        known[child.id] = true
        line[#line + 1] = child
      end
    end
    if #line > most then return nil end
    at = at + 1
  end
  table.remove(line, 1)
  return line
end

-- Returns the jobs to wait for; or nil and a refusal.
function findParents.findParents(id, list, known)
  local wanted, seen, missing, crowded, parents = {}, {}, {}, {}, {}
  for each in (list or ''):gmatch('%S+') do
    if not seen[each] then wanted[#wanted + 1], seen[each] = each, true end
  end
  if seen[id] then return nil, refuseDependency('itself', { id }) end
  local count = #wanted + (known and (dependencies.countsOf(known)) or 0)
  if count > K.MAX_PARENTS then return nil, refuseDependency('too-many', {}, count) end
  record.load(wanted)
  for i = 1, #wanted do
    local job = context.jobs[wanted[i]]
    if not job or job.isDeleted then
      missing[#missing + 1] = wanted[i]
    else
      parents[#parents + 1] = job
      if number(job.fields.dependents) >= K.MAX_DEPENDENTS then crowded[#crowded + 1] = wanted[i] end
    end
  end
  if #missing > 0 then return nil, refuseDependency('missing', missing) end
  if #crowded > 0 then return nil, refuseDependency('crowded', crowded) end
  local problem = cycleProblem(known, parents)
  if problem then return nil, problem end
  return parents
end

return findParents
