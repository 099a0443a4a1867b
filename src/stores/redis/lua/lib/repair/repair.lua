-- repair: repairs the indexes after a call that was cut short.
-- uses: values, context, indexes, job-writes, record, unit-of-work
-- on demand: key-changes, repair-edges, unique-keys, webhook-order

local keyChanges = require('key-changes')
local uniqueKeys = require('unique-keys')
local repairEdges = require('repair-edges')
local webhookOrder = require('webhook-order')
local repair = {}

-- Puts each touched job into the indexes that its record demands, and removes the members that were to be removed. It runs
-- rarely, so it may be slow.
function repair.repair()
  local living, rightful = {}, {}

  local function enters(key, score, member)
    rightful[key .. '\31' .. member] = true
    unitOfWork.put(key, score, member)
  end

  local function seqsIn(encoded)
    local seqs = {}
    for from, to in encoded:gmatch('(%d+)%-?(%d*)') do
      for seq = tonumber(from), tonumber(to) or tonumber(from) do seqs[#seqs + 1] = seq end
    end
    return seqs
  end

  local function repairJob(job)
    local key, member, score = indexes.indexOf(job)
    local side, hex = indexes.sideIndexOf(job), record.hex(job)
    if key then enters(key, score, member) end
    if side then indexes.updateSideIndex(job, side) end
    if side then rightful[side .. '\31' .. (job.place == 'k' and member or hex)] = true end
    for address in (job.fields.slots and job.fields.slots .. '\30' or ''):gmatch('([^\30]*)\30') do
      enters('slots:' .. address, 0, hex)
    end
    if job.fields.equal then
      enters('equals:' .. job.queue .. ':' .. job.fields.equal, text(record.runAtOf(job)), hex)
    end
    for tagKey in pairs(indexes.tagKeys(job.fields.tags)) do
      enters(tagKey, tonumber(job.seq), hex)
      unitOfWork.put('tags', 0, tagKey:sub(5))
    end
    for letter in ('drvt'):gmatch('.') do
      local isApart = (job.fields.apart or ''):find(letter, 1, true)
      if not isApart then write('HDEL', P .. 'big', letter .. job.id) end
    end
    if job.place == 'f' and not call('LPOS', P .. 'fifo:' .. job.queue, job.seq) then
      write('RPUSH', P .. 'fifo:' .. job.queue, job.seq)
    end
    local unique = uniqueKeys.uniqueOf(job)
    if not unique then return end
    local address = uniqueKeys.addressOf(job)
    local isCoalesced = job.place == 'b' and job.fields.into and unique.ends == 'started'
    if isCoalesced or uniqueKeys.releasesKey(unique, STATE[job.place]) then
      keyChanges.release(address, job.id)
    elseif job.place ~= 'p' then
      keyChanges.takeKey(job)
      -- The last call of a sequence holds the key.
      local holder = job.queue == K.WEBHOOKS_QUEUE and webhookOrder.openHolder(address)
      if holder and tonumber(holder.seq) < tonumber(job.seq) then webhookOrder.handKeyTo(address, job.id) end
    end
  end

  local function forget(seq, id)
    repairEdges.removeEdgesOf(('%013x'):format(seq))
    write('HDEL', P .. 's:' .. math.floor(seq / K.SEQS_PER_PIECE), seq % K.SEQS_PER_PIECE)
    if not context.jobs[id] then write('HDEL', P .. 'big', 'd' .. id, 'r' .. id, 'v' .. id, 't' .. id) end
  end

  local function repairFifo(queue, seq)
    local job = living[tonumber(seq)]
    if not (job and job.place == 'f' and job.queue == queue) then write('LREM', P .. 'fifo:' .. queue, 1, seq) end
    write('SREM', P .. 'gone:' .. queue, seq)
  end

  local function repairKey(address)
    local entry = uniqueKeys.entry(address)
    local id = entry and entry:match('^%S+ (.*)$')
    if not id then return end
    record.load({ id })
    local job = context.jobs[id]
    if not job or uniqueKeys.addressOf(job) ~= address then keyChanges.set(address, false) end
  end

  local function repairIndex(key, members)
    local queue = key:match('^fifo:(.*)$')
    for member in members:gmatch('\31([^\31]*)') do
      if queue then
        repairFifo(queue, member)
      elseif key == 'keys' then
        repairKey(member)
      elseif not key:find('^edge:') and not rightful[key .. '\31' .. member] then
        unitOfWork.drop(key, member)
        unitOfWork.noteMaybeEmpty(key)
      end
    end
  end

  local head, lines = context.unfinished:match('^([^\30]*)\30?(.*)$')
  local seqs = seqsIn(head)
  local found, ids = record.bySeqs(seqs), record.idsOf(seqs)
  repairEdges.repairEdges(lines, found)
  for i = 1, #seqs do
    if found[i] then
      living[seqs[i]] = found[i]
      repairJob(found[i])
    elseif ids[i] then
      forget(seqs[i], ids[i])
    end
  end
  for key, members in lines:gmatch('([^\30\31]+)([^\30]*)') do repairIndex(key, members) end
  if context.uniqueKeys then keyChanges.write(context.uniqueKeys) end
  jobWrites.writeIndexes()
  write('HSET', P, 'open', '')
  unitOfWork.reset()
end

return repair
