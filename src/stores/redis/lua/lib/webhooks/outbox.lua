-- outbox: adds webhook calls to the queue of webhooks: core/operations/outbox.ts.
-- uses: values, context, events, indexes, lifecycle, queue-settings, record, record-changes
-- on demand: dependencies, turns, unique-keys, webhook-order

local uniqueKeys = require('unique-keys')
local dependencies = require('dependencies')
local webhookOrder = require('webhook-order')
local turns = require('turns')
local outbox = {}

local EVENTS = { d = 'done', x = 'failed', c = 'cancelled' }
local nibbles

-- CRC-32, as the client works it out of data that it adds.
local function checksum(words)
  local bxor, band, rshift, crc = bit.bxor, bit.band, bit.rshift, bit.bnot(0)
  if not nibbles then
    nibbles = {}
    for i = 0, 15 do
      local word = i
      for _ = 1, 4 do word = bxor(rshift(word, 1), band(0xedb88320, -band(word, 1))) end
      nibbles[i] = word
    end
  end
  for i = 1, #words do
    local byte = words:byte(i)
    crc = bxor(rshift(crc, 4), nibbles[band(bxor(crc, byte), 15)])
    crc = bxor(rshift(crc, 4), nibbles[band(bxor(crc, rshift(byte, 4)), 15)])
  end
  return bit.tohex(bit.bnot(crc))
end

-- Its own, then its queue's: who is called, and of what.
local function webhooksOf(job)
  local found = {}
  if job.queue == 'hooks' then return found end
  for words in (job.fields.hooks and job.fields.hooks .. '\30' or ''):gmatch('([^\30]*)\30') do
    local on, every, secret, format, url = words:match('^(%S+) (%S+) (%S+) (%S+) (%S+)$')
    found[#found + 1] = { on = on, every = tonumber(every), secret = secret, format = format, url = url }
  end
  local hooked = context.webhookQueues
  if not hooked or not (hooked:find(' ' .. job.queue .. ' ', 1, true) or hooked:find(' * ', 1, true)) then return found end
  for _, hook in ipairs(queueSettings.settingsOf(job.queue).hooks) do
    found[#found + 1] = {
      on = table.concat(hook.on, ','), every = hook.every or K.HOOK_EVERY, secret = hook.secret or '-',
      format = hook.format or '-', url = hook.url,
    }
  end
  return found
end

local function wants(hook, event)
  return (',' .. hook.on .. ','):find(',' .. event .. ',', 1, true)
end

local function requestText(job, hook, event, percent)
  return table.concat({
    '{"event":"', event, '","job":"', job.id, '","queue":"', job.queue, '","attempt":', job.fields.attempt or '0',
    ',"at":', context.nowText, percent and ',"percent":' .. text(percent) or '', ',"url":"', hook.url, '"',
    hook.secret ~= '-' and ',"secret":"' .. hook.secret .. '"' or '',
    hook.format ~= '-' and ',"format":"' .. hook.format .. '"' or '', '}',
  })
end

local function add(job, hook, id, order)
  local settings, parent = queueSettings.settingsOf('hooks'), nil
  context.newJobs = context.newJobs or { first = context.seq + 1, ids = {}, records = {}, fifo = {}, queues = {} }
  context.seq = context.seq + 1
  table.insert(context.newJobs.ids, id)
  local fields = {
    name = job.id, policy = '{"onDependencyFailed":"run"}', onDependencyFailed = 'run',
    unique = 'queue ended 0 ' .. job.id .. ' ' .. hook.url,
  }
  local data, new = '\31:' .. checksum(order) .. order, nil
  new = { id = id, seq = text(context.seq), createdAt = context.nowText, queue = 'hooks', fields = fields, rows = '', data = data }
  recordChanges.setNumber(new, 'priority', settings.priority)
  local address = uniqueKeys.keyAddress(uniqueKeys.uniqueOf(new), 'hooks')
  parent = webhookOrder.openHolder(address)
  if parent then dependencies.withParents(new, { parent }, true) end
  if orNil(settings.keys) then turns.withTurn(new) end
  lifecycle.wait(new)
  context.jobs[id], new.isTouched, new.isNews = new, true, true
  context.touched[#context.touched + 1] = new
  webhookOrder.handKeyTo(address, id)
  indexes.registerQueue('hooks')
  events.emit('added', 'hooks', 'waiting', id)
  if parent then dependencies.waitFor(new, { parent }) end
end

local function isTaken(id)
  record.load({ id })
  return context.jobs[id] and true or false
end

local function shortId(job)
  return #job.id <= 80 and job.id or job.id:sub(1, 63) .. '~' .. job.seq
end

-- Two hooks may want to hear of one event, and a job may be cancelled twice in one millisecond.
local function freeId(job, event)
  local id = 'hook~' .. event .. '~' .. text(math.floor(context.now)) .. '~' .. shortId(job)
  local free, count = id, 1
  while isTaken(free) do
    count = count + 1
    free = id .. '~' .. text(count)
  end
  return free
end

-- After a change of a job. An ended job whose tags are changed has not ended again.
function outbox.addWebhookJobs(job, event)
  local said = event == 'claimed' and 'start' or event ~= 'changed' and EVENTS[job.place]
  for _, hook in ipairs(said and webhooksOf(job) or {}) do
    if wants(hook, said) then add(job, hook, freeId(job, said), requestText(job, hook, said)) end
  end
end

-- After a heartbeat: each step of an attempt is told once. `before` and `after` are percents.
function outbox.addProgressWebhooks(job, before, after)
  for place, hook in ipairs(webhooksOf(job)) do
    local from, to = math.floor((before or 0) / hook.every), math.floor((after or 0) / hook.every)
    if to > from and wants(hook, 'progress') then
      local step = to * hook.every
      local id = ('hook~progress%d~%s.%d~'):format(step, job.fields.attempt, place - 1) .. shortId(job)
      if not isTaken(id) then add(job, hook, id, requestText(job, hook, 'progress', step)) end
    end
  end
end

return outbox
