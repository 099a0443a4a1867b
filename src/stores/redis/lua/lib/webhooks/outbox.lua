-- outbox: adds jobs that call webhooks (core/operations/outbox.ts).
-- uses: values, context, events, indexes, lifecycle, queue-settings, record, record-changes
-- on demand: dependencies, turns, unique-keys, webhook-order

local uniqueKeys = require('unique-keys')
local dependencies = require('dependencies')
local webhookOrder = require('webhook-order')
local turns = require('turns')
local outbox = {}

local EVENTS = { d = 'done', x = 'failed', c = 'cancelled' }
local nibbles

-- Returns the CRC-32 of a text, as the client computes it of data that it adds.
local function checksum(encoded)
  local bxor, band, rshift, crc = bit.bxor, bit.band, bit.rshift, bit.bnot(0)
  if not nibbles then
    nibbles = {}
    for i = 0, 15 do
      local word = i
      for _ = 1, 4 do word = bxor(rshift(word, 1), band(0xedb88320, -band(word, 1))) end
      nibbles[i] = word
    end
  end
  for i = 1, #encoded do
    local byte = encoded:byte(i)
    crc = bxor(rshift(crc, 4), nibbles[band(bxor(crc, byte), 15)])
    crc = bxor(rshift(crc, 4), nibbles[band(bxor(crc, rshift(byte, 4)), 15)])
  end
  return bit.tohex(bit.bnot(crc))
end

-- Returns the webhooks of a job, then those of its queue.
local function webhooksOf(job)
  local found = {}
  if job.queue == K.WEBHOOKS_QUEUE then return found end
  for encoded in (job.fields.hooks and job.fields.hooks .. '\30' or ''):gmatch('([^\30]*)\30') do
    local on, every, secret, format, url = encoded:match('^(%S+) (%S+) (%S+) (%S+) (%S+)$')
    found[#found + 1] = { on = on, every = tonumber(every), secret = secret, format = format, url = url }
  end
  local names = context.webhookQueues
  if not names or not (names:find(' ' .. job.queue .. ' ', 1, true) or names:find(' * ', 1, true)) then return found end
  for _, webhook in ipairs(queueSettings.settingsOf(job.queue).hooks) do
    found[#found + 1] = {
      on = table.concat(webhook.on, ','), every = webhook.every or K.DEFAULT_PROGRESS_STEP, secret = webhook.secret or '-',
      format = webhook.format or '-', url = webhook.url,
    }
  end
  return found
end

local function wants(webhook, event)
  return (',' .. webhook.on .. ','):find(',' .. event .. ',', 1, true)
end

local function requestText(job, webhook, event, percent)
  return table.concat({
    '{"event":"', event, '","job":"', job.id, '","queue":"', job.queue, '","attempt":', job.fields.attempt or '0',
    ',"at":', context.nowText, percent and ',"percent":' .. text(percent) or '', ',"url":"', webhook.url, '"',
    webhook.secret ~= '-' and ',"secret":"' .. webhook.secret .. '"' or '',
    webhook.format ~= '-' and ',"format":"' .. webhook.format .. '"' or '', '}',
  })
end

local function add(job, webhook, id, order)
  local settings, parent = queueSettings.settingsOf(K.WEBHOOKS_QUEUE), nil
  context.newJobs = context.newJobs or { first = context.seq + 1, ids = {}, records = {}, fifo = {}, queues = {} }
  context.seq = context.seq + 1
  table.insert(context.newJobs.ids, id)
  local fields = {
    name = job.id, policy = '{"onDependencyFailed":"run"}', onDependencyFailed = 'run',
    unique = 'queue ended 0 ' .. job.id .. ' ' .. webhook.url,
  }
  local data, new = '\31:' .. checksum(order) .. order, nil
  new = {
    id = id, seq = text(context.seq), createdAt = context.nowText, queue = K.WEBHOOKS_QUEUE,
    fields = fields, rows = '', data = data,
  }
  recordChanges.setNumber(new, 'priority', settings.priority)
  local address = uniqueKeys.addressOf(new)
  parent = webhookOrder.openHolder(address)
  if parent then dependencies.withParents(new, { parent }, true) end
  if orNil(settings.keys) then turns.withTurn(new) end
  lifecycle.wait(new)
  context.jobs[id], new.isTouched, new.isChanged = new, true, true
  context.touched[#context.touched + 1] = new
  webhookOrder.handKeyTo(address, id)
  indexes.registerQueue(K.WEBHOOKS_QUEUE)
  events.emit('added', K.WEBHOOKS_QUEUE, 'waiting', id)
  if parent then dependencies.waitFor(new, { parent }) end
end

local function isTaken(id)
  record.load({ id })
  return context.jobs[id] and true or false
end

local function shortId(job)
  return #job.id <= 80 and job.id or job.id:sub(1, 63) .. '~' .. job.seq
end

-- Returns an unused id: two webhooks may want one event, and a job may be cancelled twice in one millisecond.
local function freeId(job, event)
  local id = K.WEBHOOK_ID_PREFIX .. event .. '~' .. text(math.floor(context.now)) .. '~' .. shortId(job)
  local free, count = id, 1
  while isTaken(free) do
    count = count + 1
    free = id .. '~' .. text(count)
  end
  return free
end

-- Returns whether a suspended job waits for an event that has not arrived.
local function waitsForEvent(job)
  local to = (job.fields.suspended or ''):match('^%S+ (%S+) .')
  return to and (to == '-' or tonumber(to) > context.now)
end

-- Adds webhook calls after a change of a job. A change of an ended job is not another end.
function outbox.addWebhookJobs(job, event)
  local name = event == 'claimed' and 'start' or event ~= 'changed' and EVENTS[job.place]
  if event == 'suspended' then name = waitsForEvent(job) and 'waiting' end
  for _, webhook in ipairs(name and webhooksOf(job) or {}) do
    if wants(webhook, name) then add(job, webhook, freeId(job, name), requestText(job, webhook, name)) end
  end
end

-- Adds webhook calls after a heartbeat: one for each step of an attempt. `before` and `after` are percents.
function outbox.addProgressWebhooks(job, before, after)
  for place, webhook in ipairs(webhooksOf(job)) do
    local from, to = math.floor((before or 0) / webhook.every), math.floor((after or 0) / webhook.every)
    if to > from and wants(webhook, 'progress') then
      local step = to * webhook.every
      local id = (K.WEBHOOK_ID_PREFIX .. 'progress%d~%s.%d~'):format(step, job.fields.attempt, place - 1) .. shortId(job)
      if not isTaken(id) then add(job, webhook, id, requestText(job, webhook, 'progress', step)) end
    end
  end
end

return outbox
