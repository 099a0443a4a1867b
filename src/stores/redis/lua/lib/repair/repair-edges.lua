-- repair-edges: repairs the edges of jobs after a call that was cut short.
-- uses: indexes, lifecycle, record, record-changes, unit-of-work
-- on demand: dependencies, edges

local edges = require('edges')
local dependencies = require('dependencies')
local repairEdges = {}

local function repairEdge(parentHex, childHex)
  local parent, child = unpack(record.bySeqs({ tonumber(parentHex, 16), tonumber(childHex, 16) }))
  if not child or not call('ZSCORE', P .. 'up:' .. childHex, parentHex) then
    write('ZREM', P .. 'wait:' .. parentHex, childHex)
    write('ZREM', P .. 'kids:' .. parentHex, childHex)
    write('ZREM', P .. 'up:' .. childHex, parentHex)
  elseif not (parent and dependencies.isOpenFor(parent, dependencies.ruleOf(child))) then
    write('ZREM', P .. 'wait:' .. parentHex, childHex)
  end
end

local function replace(job)
  local before, queue = job.place, job.queue
  lifecycle.wait(job)
  if before == job.place then return end
  if before == 'b' then unitOfWork.drop('blocked:' .. queue, record.hex(job)) end
  if before == 'f' then write('LREM', P .. 'fifo:' .. queue, 1, job.seq) end
  if before == 'w' then
    unitOfWork.drop('ready:' .. queue, indexes.readyMember(job))
    unitOfWork.drop('later:' .. queue, record.hex(job))
  end
end

local function recount(job)
  local hex, open, bad = record.hex(job), 0, 0
  local members = call('ZRANGE', P .. 'up:' .. hex, 0, -1)
  for i, parent in ipairs(record.bySeqs(record.seqsOf(members))) do
    if parent and edges.has('wait:' .. members[i], hex) then
      open, bad = open + 1, bad + (dependencies.isUnsuccessful(parent) and 1 or 0)
    end
  end
  if #members > 0 or job.fields.parents then
    job.fields.parents = #members > 0 and ('%d %d %d'):format(#members, open, bad) or nil
    if job.place == 'b' or (open > 0 and STATE[job.place] == 'waiting') then replace(job) end
  end
  recordChanges.setNumber(job, 'dependents', call('ZCARD', P .. 'wait:' .. hex))
end

-- Removes the edges of a child that does not exist.
function repairEdges.removeEdgesOf(hex)
  for _, parent in ipairs(call('ZRANGE', P .. 'up:' .. hex, 0, -1)) do
    write('ZREM', P .. 'wait:' .. parent, hex)
    write('ZREM', P .. 'kids:' .. parent, hex)
  end
  write('DEL', P .. 'up:' .. hex)
end

function repairEdges.repairEdges(lines, found)
  for parentHex, childHex in lines:gmatch('edge:(%x+)\31(%x+)') do repairEdge(parentHex, childHex) end
  for i = 1, #found do
    if found[i] and found[i].place == 'd' then write('DEL', P .. 'wait:' .. record.hex(found[i])) end
  end
  for i = 1, #found do
    local job = found[i]
    local before = job and recordChanges.encode(job)
    if job then recount(job) end
    if job and recordChanges.encode(job) ~= before then
      job.written = recordChanges.encode(job)
      write('HSET', P .. 'j', job.id, job.written)
    end
  end
end

return repairEdges
