-- dependencies: jobs that wait for other jobs (core/lifecycle/dependencies.ts, core/operations/dependents.ts).
-- uses: values, lifecycle, queue-settings, record, record-changes, unit-of-work
-- on demand: edges

local edges = require('edges')
local dependencies = {}

local function closed(child)
  dependencies.addCounts(child, 0, -1, 0)
  if child.place ~= 'b' then return false end
  lifecycle.wait(child)
  return false, child.place == 'w' and 'unblocked' or nil
end

-- Applies a change of a parent. Returns whether the edge stays open, and an event with its note if more than a count changes.
local function followParent(child, parent, wasUnsuccessful)
  local rule, isGone = dependencies.ruleOf(child), parent.isDeleted
  local isBad, isEnded = not isGone and dependencies.isUnsuccessful(parent), dependencies.isEnded(child)
  if wasUnsuccessful then dependencies.addCounts(child, 0, 0, -1) end
  if not isGone and not isBad then
    if parent.place ~= 'd' then return true end
    return closed(child)
  end
  if rule == 'run' or (isGone and isEnded) then return closed(child) end
  if isGone then dependencies.addCounts(child, 0, -1, 0) else dependencies.addCounts(child, 0, 0, 1) end
  if isEnded or (isBad and rule == 'hold') then return isBad end
  return isBad, 'failed', dependencies.failedByParent(child, parent)
end

local function notifyChildren(change, changes)
  local parent, closed = change.job, 0
  for _, child in ipairs(edges.openChildren(parent)) do
    unitOfWork.touch(child)
    local isOpen, event, note = followParent(child, parent, change.wasUnsuccessful)
    if not isOpen then
      edges.set('wait:' .. record.hex(parent), record.hex(child), false)
      closed = closed + 1
    end
    if event then lifecycle.apply(child, event, { note = note }) end
    if event == 'failed' and child.fields.dependents then changes[#changes + 1] = { job = child, wasUnsuccessful = false } end
  end
  if closed > 0 and dependencies.isUnsuccessful(parent) and not parent.isDeleted then
    dependencies.countDependents(parent, -closed)
  end
end

-- Returns the counts of a child: its parents, the open ones, and of those the unsuccessful ones.
function dependencies.countsOf(job)
  local of, open, bad = (job.fields.parents or '0 0 0'):match('^(%d+) (%d+) (%d+)$')
  return tonumber(of), tonumber(open), tonumber(bad)
end

function dependencies.addCounts(job, moreOf, moreOpen, moreBad)
  local of, open, bad = dependencies.countsOf(job)
  of = of + moreOf
  job.fields.parents = of > 0 and ('%d %d %d'):format(of, open + moreOpen, bad + moreBad) or nil
end

function dependencies.ruleOf(job)
  return job.fields.onDependencyFailed or queueSettings.settingsOf(job.queue).onDependencyFailed
end

function dependencies.isUnsuccessful(job)
  return job.place == 'x' or job.place == 'c'
end

function dependencies.isEnded(job)
  return job.place == 'd' or dependencies.isUnsuccessful(job)
end

function dependencies.isNotEnded(job)
  return not dependencies.isEnded(job)
end

function dependencies.isOpenFor(parent, rule)
  return parent.place ~= 'd' and not (rule == 'run' and dependencies.isUnsuccessful(parent))
end

function dependencies.countDependents(parent, more)
  unitOfWork.touch(parent)
  recordChanges.setNumber(parent, 'dependents', number(parent.fields.dependents) + more)
end

function dependencies.failedByParent(child, parent)
  local what = parent.isDeleted and 'was deleted' or parent.place == 'x' and 'failed' or 'was cancelled'
  local message = 'job ' .. parent.id .. ' ' .. what
  lifecycle.ended(child, 'x')
  lifecycle.setFailure(child, K.DEPENDENCY_GROUP, message)
  return message
end

-- Notifies the dependents of changed jobs, and theirs. The list grows while it is processed: chains may be long.
function dependencies.notifyDependents(changes)
  local at = 1
  while changes[at] do
    local job, wasUnsuccessful = changes[at].job, changes[at].wasUnsuccessful
    local isAffecting = job.isDeleted or job.place == 'd' or dependencies.isUnsuccessful(job) ~= wasUnsuccessful
    if isAffecting then notifyChildren(changes[at], changes) end
    at = at + 1
  end
end

-- Notifies the dependents of one job. `wasUnsuccessful`: whether it had failed or been cancelled before.
function dependencies.notifyDependentsOf(job, wasUnsuccessful)
  if not job.fields.dependents then return end
  dependencies.notifyDependents({ { job = job, wasUnsuccessful = wasUnsuccessful } })
end

-- Counts the parents that are new to a child, or open for it again, and returns them.
function dependencies.withParents(child, parents, isNew)
  local rule, made, opened = dependencies.ruleOf(child), {}, {}
  for i = 1, #parents do
    local parent = parents[i]
    local edge = not isNew and edges.edgeOf(parent, child) or nil
    local isOpen = dependencies.isOpenFor(parent, rule)
    if not edge then made[#made + 1] = parent elseif edge == 'closed' and isOpen then opened[#opened + 1] = parent end
    if edge ~= 'open' and (isOpen or not edge) then
      dependencies.addCounts(child, edge and 0 or 1, isOpen and 1 or 0, isOpen and dependencies.isUnsuccessful(parent) and 1 or 0)
    end
  end
  for i = 1, #opened do made[#made + 1] = opened[i] end
  return made
end

-- Adds the edges. With the rule `fail`, a child of an unsuccessful parent fails at once.
function dependencies.waitFor(child, parents)
  local rule, bad = dependencies.ruleOf(child), nil
  for i = 1, #parents do
    local parent = parents[i]
    local isOpen = dependencies.isOpenFor(parent, rule)
    edges.link(parent, child, isOpen)
    if isOpen then dependencies.countDependents(parent, 1) end
    bad = bad or (rule == 'fail' and dependencies.isUnsuccessful(parent) and parent) or nil
  end
  if not bad then return end
  lifecycle.apply(child, 'failed', { note = dependencies.failedByParent(child, bad) })
  dependencies.notifyDependentsOf(child, false)
end

-- Removes parents from a child; ignores jobs that are not its parents.
function dependencies.stopWaiting(child, parents)
  for i = 1, #parents do
    local parent = parents[i]
    local edge = edges.edgeOf(parent, child)
    local isOpen = edge == 'open'
    if edge then
      dependencies.addCounts(child, -1, isOpen and -1 or 0, isOpen and dependencies.isUnsuccessful(parent) and -1 or 0)
      if isOpen then dependencies.countDependents(parent, -1) end
      edges.remove(record.hex(parent), record.hex(child))
    end
  end
end

-- Removes the edges of a child that is deleted.
function dependencies.leaveParents(child)
  local hex, _, open = record.hex(child), dependencies.countsOf(child)
  local seqs = edges.members('up:' .. hex)
  local parents = open > 0 and record.bySeqs(seqs) or {}
  for i = 1, #seqs do
    local parent, parentHex = parents[i], ('%013x'):format(seqs[i])
    if parent and not parent.isDeleted and edges.has('wait:' .. parentHex, hex) then dependencies.countDependents(parent, -1) end
    edges.remove(parentHex, hex)
  end
end

return dependencies
