-- edges: the stored edges between a parent and the jobs that wait for it. An edge exists while its child has it in `up:`;
-- so that is written last when an edge is added and first when it is removed.
-- uses: context, job-writes, record, unit-of-work

local edges = {}

-- Writes the members to add, with their scores, or those to remove.
local function writeSets(command, isUp)
  for key, members in pairs(context.edges) do
    local list = {}
    for member, score in pairs((key:find('^up:') ~= nil) == isUp and members or {}) do
      if score and command == 'ZADD' then list[#list + 1] = score end
      if (score and 'ZADD' or 'ZREM') == command then list[#list + 1] = member end
    end
    jobWrites.writeMany(command, key, list)
  end
end

-- Notes a change of a set of edges: a score for a member to add, false for one to remove.
function edges.set(key, member, score)
  local sets = unitOfWork.pending('edges')
  sets[key] = sets[key] or {}
  sets[key][member] = score
end

function edges.has(key, member)
  local pending = context.edges and context.edges[key] and context.edges[key][member]
  if pending ~= nil then return pending ~= false end
  return call('ZSCORE', P .. key, member) ~= false
end

-- Returns open, closed, or nil without an edge.
function edges.edgeOf(parent, child)
  local parentHex, childHex = record.hex(parent), record.hex(child)
  if not edges.has('up:' .. childHex, parentHex) then return nil end
  return edges.has('wait:' .. parentHex, childHex) and 'open' or 'closed'
end

function edges.link(parent, child, isOpen)
  local parentHex, childHex = record.hex(parent), record.hex(child)
  edges.set('up:' .. childHex, parentHex, parent.seq)
  edges.set('kids:' .. parentHex, childHex, child.seq)
  if isOpen then edges.set('wait:' .. parentHex, childHex, child.seq) end
end

function edges.remove(parentHex, childHex)
  edges.set('wait:' .. parentHex, childHex, false)
  edges.set('kids:' .. parentHex, childHex, false)
  edges.set('up:' .. childHex, parentHex, false)
end

-- Returns the seqs in a set of edges, with the changes of this call.
function edges.members(key)
  local pending, seqs = context.edges and context.edges[key] or {}, {}
  for _, member in ipairs(call('ZRANGE', P .. key, 0, -1)) do
    if pending[member] == nil then seqs[#seqs + 1] = tonumber(member, 16) end
  end
  for member, score in pairs(pending) do
    if score then seqs[#seqs + 1] = tonumber(member, 16) end
  end
  table.sort(seqs)
  return seqs
end

-- Returns the jobs that wait for a job, by insertion.
function edges.openChildren(parent)
  local children = {}
  for _, job in ipairs(record.bySeqs(edges.members('wait:' .. record.hex(parent)))) do
    if job and not job.isDeleted then children[#children + 1] = job end
  end
  return children
end

function edges.writeAdded()
  writeSets('ZADD', false)
  writeSets('ZADD', true)
end

function edges.writeRemoved()
  writeSets('ZREM', true)
  writeSets('ZREM', false)
end

function edges.log(lines)
  for key, members in pairs(context.edges) do
    local parent = key:match('^%a+:(%x+)$')
    if not key:find('^up:') then
      for member in pairs(members) do lines[#lines + 1] = 'edge:' .. parent .. '\31' .. member end
    end
  end
end

return edges
