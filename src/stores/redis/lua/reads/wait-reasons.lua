-- wait-reasons: which limit keeps ready jobs from being claimed now (core/operations/throttles.ts). ARGV: clock, ids.
-- Returns for each: '' for none; or queue, running and maximum; or rate, the time and the bucket of a throttle; or throttle, held, maximum, address; or
-- needs, and those.
-- uses: values, clock, context, queue-settings, record
-- on demand: buckets, rates, resources, throttles
local throttles = require('throttles')
local resources = require('resources')
local rates = require('rates')
local buckets = require('buckets')

clock.readClock()

local function limitReason(job)
  local settings = queueSettings.settingsOf(job.queue)
  local most, rate = orNil(settings.maxRunning), orNil(settings.rate)
  local running = most and call('ZCARD', P .. 'running:' .. job.queue)
  if most and running >= most then return { 'queue', running, text(most) } end
  local startAt = rate and rates.nextStart(job.queue, rate)
  if startAt then return { 'rate', text(startAt) } end
  local addresses = throttles.throttlesOf(job, settings)
  local full = throttles.fullAmong(addresses)
  if full then return { 'throttle', throttles.held(full), text(throttles.maxOf(full)), full } end
  local _, closed, opensAt = buckets.closedAmong(job, addresses)
  if closed then return { 'rate', text(opensAt), closed.address } end
  return resources.exceedsAllWorkers(job, settings) and { 'needs', job.fields.needs or settings.needs } or {}
end

local ids, answer = { select(2, unpack(args)) }, {}
record.load(ids)
for i = 1, #ids do
  local job = context.jobs[ids[i]]
  local isReady = job and STATE[job.place] == 'waiting' and job.place ~= 'b' and record.runAtOf(job) <= context.now
    and queueSettings.settingsOf(job.queue).state == 'up'
  answer[i] = isReady and table.concat(limitReason(job), '\31') or ''
end
return answer
