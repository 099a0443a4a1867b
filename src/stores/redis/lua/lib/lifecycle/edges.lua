-- edges: the stored edges between a job and those that wait for it.
-- uses: context, job-writes, record

local edges = {}

-- The members of a set that enter, with their scores, or those that leave.
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

-- What a set of edges will be: a score for a member that enters, false for one that leaves.
function edges.set(key, member, score)
  context.edges = context.edges or {}
  context.edges[key] = context.edges[key] or {}
  context.edges[key][member] = score
end

function edges.has(key, member)
  local pending = context.edges and context.edges[key] and context.edges[key][member]
  if pending ~= nil then return pending ~= false end
  return call('ZSCORE', P .. key, member) ~= false
end

-- Open, closed, or nil.
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

-- The members of a set of edges as this call has left it, as seqs.
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

-- The jobs that wait for this one, by insertion.
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
