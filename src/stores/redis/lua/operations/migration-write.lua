-- migration-write: writes rows of another store with their indexes.
-- ARGV: clock, the migration, state of the store afterwards or '', last seq, token and version there, part, then the rows:
--   records     kind, key, record or '' for a deleted one
--   queues      name, turn served, time of its rate, turns of keys, throughput: letter and slot, page and counts of each
--   statistics  queue, day, letter and name, eleven numbers, buckets with ; before them or ''
--   jobs        id, record, number of long texts, those, edges to parents, until when it holds its key, - or '', its steps
-- Returns ok, or no if the store is not the target of this migration.
-- uses: values, context, operation, record, unit-of-work, webhook-queues, aggregate-log
-- on demand: edges, key-changes, steps, unique-keys
operation.begin()

local _, move, after, seq, token, version, part = unpack(args)
local known = cjson.decode(call('HGET', P, 'standing') or '{}')
local isRight = known.role == 'target' or known.role == 'import'
if known.move ~= move or not isRight or known.state ~= 'moving' then return 'no' end
local put, at = {}, 8

function put.records()
  local kind, key, encoded = args[at], args[at + 1], args[at + 2]
  local address, expiresAt = kind .. '\31' .. key, encoded:match('^[^\31]*\31([^\31]*)')
  at = at + 3
  local hasWebhooks = webhookQueues.hasWebhooks(kind, encoded)
  if hasWebhooks then webhookQueues.mark(key, true) end
  if encoded == '' then
    write('ZREM', P .. 'names:' .. kind, key)
    write('HDEL', P .. 'records:' .. kind, key)
  else
    write('ZADD', P .. 'names:' .. kind, 0, key)
    write('HSET', P .. 'records:' .. kind, key, encoded)
  end
  if kind == 'queue' and not hasWebhooks then webhookQueues.mark(key, false) end
  if (expiresAt or '') == '' then
    write('ZREM', P .. 'expiring', address)
  else
    write('ZADD', P .. 'expiring', expiresAt, address)
  end
end

function put.queues()
  local name, turn, rateAt, turns, series = unpack(args, at, at + 4)
  at = at + 5
  if not call('ZSCORE', P .. 'queues', name) then write('ZADD', P .. 'queues', call('ZCARD', P .. 'queues') + 1, name) end
  if turn ~= '0' then write('HSET', P .. 'paces', name, turn) end
  if rateAt ~= '0' then write('HSET', P .. 'rates', name, rateAt) end
  for key, given in turns:gmatch('([^\31]*)\31(%d+)\31') do write('ZADD', P .. 'turns:' .. name, given, key) end
  for address, page, counts in series:gmatch('(%a%d+) (%d+) ([^\30]*)') do
    local parts = { struct.pack('>d', tonumber(page)) }
    for count in counts:gmatch('%d+') do parts[#parts + 1] = struct.pack('>I4', tonumber(count)) end
    write('HSET', P .. 'j', '%' .. name .. '\31' .. address, table.concat(parts))
  end
end

function put.statistics()
  local queue, day, name, numbers, buckets = unpack(args, at, at + 4)
  at = at + 5
  local member, figures = day .. '\31' .. name, {}
  for word in numbers:gmatch('%S+') do figures[#figures + 1] = tonumber(word) end
  write('ZADD', P .. 'cells:' .. queue, day, member)
  if buckets ~= '' then write('ZADD', P .. 'buckets:' .. queue, day, member) end
  local packed = struct.pack('>ddddddddddd', unpack(figures, 1, 11))
  write('HSET', P .. 'j', '#' .. queue .. '\31' .. member, packed .. buckets)
end

-- Adds a new job to the index by insertion before its record exists, so that a repair finds it.
local function enter(job)
  local piece = math.floor(job.seq / K.SEQS_PER_PIECE)
  write('HSET', P .. 's:' .. piece, job.seq % K.SEQS_PER_PIECE, job.id)
  write('ZADD', P .. 's', piece, piece)
  context.jobs[job.id], job.isTouched = job, true
  context.touched[#context.touched + 1] = job
  return job
end

-- Overwrites a job that an earlier batch of the same migration wrote.
local function overwrite(job, new)
  local hex = record.hex(job)
  for _, parent in ipairs(call('ZRANGE', P .. 'up:' .. hex, 0, -1)) do require('edges').remove(parent, hex) end
  local address = require('unique-keys').addressOf(job)
  if address then require('key-changes').release(address, job.id) end
  job.place, job.queue, job.fields, job.rows, job.data = new.place, new.queue, new.fields, new.rows, new.data
  return job
end

local function tie(job, parents, to)
  local hex = record.hex(job)
  for parent, mark in parents:gmatch('(%d+)([+-])') do
    local parentHex = ('%013x'):format(parent)
    require('edges').set('up:' .. hex, parentHex, parent)
    require('edges').set('kids:' .. parentHex, hex, job.seq)
    require('edges').set('wait:' .. parentHex, hex, mark == '+' and job.seq or false)
  end
  local address = require('unique-keys').addressOf(job)
  if address and to ~= '' then require('key-changes').set(address, to .. ' ' .. job.id) end
end

-- Replaces the steps of a job. Its record has their sums already.
local function putSteps(job, list)
  if not job.fields.steps and list == '' then return end
  local steps = require('steps')
  local written = steps.writes(job, true)
  for key, encoded in (list == '' and '' or list .. '\31'):gmatch('([^\31]*)\31([^\31]*)\31') do steps.set(written, key, encoded) end
end

function put.jobs()
  local id, encoded = args[at], args[at + 1]
  at = at + 3
  local new, old = record.parse(id, encoded), context.jobs[id]
  if old then unitOfWork.touch(old) end -- before its texts change, since their bytes are subtracted
  context.longTexts = context.longTexts or {}
  for letter in (old and old.fields.apart or ''):gmatch('.') do context.longTexts[letter .. id] = false end
  for letter in (new.fields.apart or ''):gmatch('.') do
    context.longTexts[letter .. id] = args[at]
    at = at + 1
  end
  local job = old and overwrite(old, new) or enter(new)
  local equal = job.fields.equal
  if equal then unitOfWork.put('equals:' .. job.queue .. ':' .. equal, text(record.runAtOf(job)), record.hex(job)) end
  tie(job, args[at], args[at + 1])
  putSteps(job, args[at + 2])
  at = at + 3
end

local function loadJobs()
  local ids, place = {}, 8
  while args[place] do
    ids[#ids + 1] = args[place]
    place = place + 6 + tonumber(args[place + 2])
  end
  record.load(ids)
end

if part == 'jobs' then loadJobs() end
-- Cells and pages are overwritten, so what was measured before is in them already.
if part == 'statistics' or part == 'queues' then aggregateLog() end
context.seq, context.token = math.max(context.seq, tonumber(seq)), math.max(context.token, tonumber(token))
while args[at] do put[part]() end
unitOfWork.flush()
local given = number(call('HGET', P, 'version'))
write('HSET', P, 'version', text(math.max(given, tonumber(version))), 'seq', text(context.seq), 'token', text(context.token))
if after ~= '' then write('HSET', P, 'standing', after) end
return 'ok'
