-- buckets: rates and pauses of throttles (core/limits/bucket.ts, core/operations/limits/buckets.ts). Their states are cached in the
-- call, and written with the records: a job has started and its cost is taken, or neither.
-- uses: values, context
-- on demand: rates, throttles

local throttles = require('throttles')
local rates = require('rates')
local buckets = {}
context.bucketStates = {} -- by address

function buckets.bucketOf(job, name)
  local throttle, key, cost = throttles.named(name), '', 1
  local rate = orNil(throttle.rate)
  if rate then
    key = throttle.by and #throttle.by > 0 and throttles.keyIn(job, throttle.by) or ''
    local given = orNil(throttle.cost) and throttles.fieldIn(job, throttle.cost)
    cost = math.min(type(given) == 'number' and given > 0 and given or 1, rate.count)
  end
  return { address = 't:' .. name .. (key ~= '' and ' ' .. key or ''), cost = cost, rate = rate, version = throttle.version }
end

-- Returns the bucket at an address, for a job of cost 1.
function buckets.at(address)
  local throttle = throttles.named(address:match('^t:([^ ]*)'))
  return { address = address, cost = 1, rate = orNil(throttle.rate), version = throttle.version }
end

-- Returns the state of a bucket. A state of another version of the throttle does not count.
function buckets.stateOf(bucket)
  local state = context.bucketStates[bucket.address]
  if not state then
    local stored = call('HGET', P .. 'j', '!' .. bucket.address) or ''
    local at, to, version = stored:match('^(%S+) (%S+) %S+ (%S+)$')
    if version ~= bucket.version then at, to = 0, 0 end
    state = { at = tonumber(at), to = tonumber(to), version = bucket.version }
    context.bucketStates[bucket.address] = state
  end
  return state
end

function buckets.opensAt(bucket)
  local state = buckets.stateOf(bucket)
  if state.to > context.now then return state.to end
  return bucket.rate and rates.rateNextAt(state.at, bucket.rate, bucket.cost) or nil
end

-- Returns the buckets of a job by the addresses of its throttles; and the first that lets it not start now, with the time.
function buckets.closedAmong(job, addresses)
  local found = {}
  for i = 1, #addresses do
    local name = addresses[i]:match('^t:(.*)$')
    if name then found[#found + 1] = buckets.bucketOf(job, name) end
  end
  for i = 1, #found do
    local opensAt = buckets.opensAt(found[i])
    if opensAt then return found, found[i], opensAt end
  end
  return found
end

function buckets.takeCost(list)
  for i = 1, #list do
    local state = buckets.stateOf(list[i])
    if list[i].rate then state.at, state.isChanged = rates.rateAfter(state.at, list[i].rate, list[i].cost), true end
  end
end

-- Closes a bucket until a time; a later time stays.
function buckets.close(bucket, to)
  local state = buckets.stateOf(bucket)
  if state.to < to then state.to, state.isChanged = to, true end
end

-- Appends the changed states to the fields of the write of records, and writes when they end: an end without its state is harmless.
function context.appendBuckets(set)
  for address, state in pairs(context.bucketStates) do
    if state.isChanged then
      write('ZADD', P .. 'bucket-ends', text(math.max(state.at, state.to)), address)
      set[#set + 1] = '!' .. address
      set[#set + 1] = table.concat({ text(state.at), text(state.to), context.nowText, state.version }, ' ')
      state.isChanged = nil
    end
  end
end

return buckets
