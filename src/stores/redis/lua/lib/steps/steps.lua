-- steps: the steps of a job (core/lifecycle/steps.ts), in the hash steps:<id>.
-- A field is kind:name. A value is number, status, attempts, begin, end or -, wake time or -, bytes; then \30 and the failure, \30
-- and the result, each with + before it, or empty. The record has their number and bytes as `steps`.
--
-- context.steps is a list of the commands that write steps; by the id of a job it has what this call keeps of the job.
--
-- Invariant: the hash counts only if the record has `steps`. What an aborted call left there is deleted by the next write.
-- uses: values, context, unit-of-work

local steps = {}

local function orDash(n)
  return n and text(n) or '-'
end

function steps.encode(step)
  local head = { text(step.number), step.status, text(step.attempts), text(step.startedAt), orDash(step.endedAt), orDash(step.to) }
  return table.concat(head, ' ') .. ' ' .. text(step.bytes) .. '\30' .. (step.failure and '+' .. step.failure or '') .. '\30'
    .. (step.result and '+' .. step.result or '')
end

local function decode(encoded)
  local place, status, attempts, startedAt, endedAt, to, bytes, failure, result =
    encoded:match('^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%d+)\30([^\30]*)\30(.*)$')
  return {
    number = tonumber(place), status = status, attempts = tonumber(attempts), startedAt = tonumber(startedAt),
    endedAt = tonumber(endedAt), to = tonumber(to), bytes = tonumber(bytes),
    failure = failure ~= '' and failure:sub(2) or nil, result = result ~= '' and result:sub(2) or nil,
  }
end

-- Returns the number of the steps and their bytes. They are added up if an aborted call may have written its sums and not its
-- step: their number differs, or a step is written again.
local function sumsOf(job, isAgain)
  local count, bytes = (job.fields.steps or '0 0'):match('^(%S+) (%S+)$')
  count, bytes = tonumber(count), tonumber(bytes)
  local isWritten, key = context.steps and context.steps[job.id], P .. 'steps:' .. job.id
  if count == 0 or isWritten or (not isAgain and call('HLEN', key) == count) then return count, bytes end
  count, bytes = 0, 0
  for _, encoded in ipairs(call('HVALS', key)) do count, bytes = count + 1, bytes + decode(encoded).bytes end
  return count, bytes
end

-- Returns a step as it is after the writes of this call; nil if there is none.
function steps.get(job, key)
  local written = context.steps and context.steps[job.id]
  if written and written.kept[key] then return decode(written.kept[key]) end
  if not job.fields.steps or (written and written.isNew) then return nil end
  local encoded = call('HGET', P .. 'steps:' .. job.id, key)
  return encoded and decode(encoded) or nil
end

function steps.nextNumber(job)
  return sumsOf(job) + 1
end

-- Returns what this call keeps of a job. If `isNew`, it replaces what the hash has.
function steps.writes(job, isNew)
  local all, key = unitOfWork.pending('steps'), P .. 'steps:' .. job.id
  if not all[job.id] then
    if isNew then all[#all + 1] = { 'DEL', key } end
    all[job.id] = { isNew = isNew, kept = {}, command = { 'HSET', key } }
  end
  return all[job.id]
end

function steps.set(written, key, encoded)
  local command, all = written.command, context.steps
  if #command == 2 then all[#all + 1] = command end
  command[#command + 1], command[#command + 2] = key, encoded
  written.kept[key] = encoded
end

-- Keeps a step of a job that was touched, or returns a refusal if the job would keep more than it may.
function steps.put(job, key, before, step)
  local name = key:match('^%a+:(.*)$')
  step.bytes = #name + (step.result and #step.result or 0) + (step.failureBytes or 0)
  local count, bytes = sumsOf(job, before)
  count, bytes = count + (before and 0 or 1), bytes + step.bytes - (before and before.bytes or 0)
  if step.bytes > K.MAX_STEP_BYTES then return '!step-limit step ' .. name end
  if count > K.MAX_STEPS then return '!step-limit count ' .. name end
  if bytes > K.MAX_STEPS_BYTES then return '!step-limit bytes ' .. name end
  steps.set(steps.writes(job, not job.fields.steps), key, steps.encode(step))
  unitOfWork.touch(job)
  job.fields.steps = text(count) .. ' ' .. text(bytes)
end

return steps
