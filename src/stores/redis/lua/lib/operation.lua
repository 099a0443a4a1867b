-- operation: how an operation begins, reads its requests and answers them.
-- uses: values, clock, context, record, unit-of-work
-- on demand: clock-step

-- Reads one request: its kind, its fields, and the position of the next one. Long texts follow it as own arguments.
local function readRequest(at)
  local encoded = args[at]
  local kind = encoded:match('^[^\31]*')
  local request = record.fieldsOf(encoded)
  at = at + 1
  if request.apart then
    request.texts = {}
    for letter in request.apart:gmatch('.') do
      request.texts[letter] = args[at]
      at = at + 1
    end
  end
  return kind, request, at
end

return {
  -- Begins a changing operation: reads the clock, and follows a step of it. Returns true after a call that was cut short: then
  -- nothing is written, and the client sends `repair` and the operation again. Every script that uses this module begins with
  -- it (calls/scripts.ts); a second call does nothing.
  begin = function()
    if context.hasBegun then return false end
    context.hasBegun = true
    clock.readClock()
    if context.unfinished and context.unfinished ~= '' then return true end
    if context.clockSource == 'caller' then return false end
    if context.stored.seen - context.now > K.CLAMP_MS then require('clock-step').stepBack() end
    if context.stepFrom and not context.closed then require('clock-step').rebaseSome() end
    if #context.touched > 0 then unitOfWork.flush() end
    return false
  end,

  -- Calls `each` for every request of a list: id, then the request. It returns a text or a refusal, which begins with `!`.
  forEach = function(each)
    local ids, kinds, requests, at = {}, {}, {}, 2
    while args[at] do
      local n = #ids + 1
      ids[n] = args[at]
      kinds[n], requests[n], at = readRequest(at + 1)
    end
    record.load(ids)
    local answers, jobs = {}, context.jobs
    for i = 1, #ids do answers[i] = each(jobs[ids[i]], requests[i], kinds[i]) end
    unitOfWork.finish()
    return table.concat(answers, '\31')
  end,

  -- Refuses each request while the store is closed by a migration; returns nil otherwise.
  refuseWhileClosed = function()
    operation.begin()
    if not context.closed then return nil end
    local answers, at = {}, 2
    while args[at] do
      answers[#answers + 1] = '!store-moving ' .. context.closed
      at = select(3, readRequest(at + 1))
    end
    return table.concat(answers, '\31')
  end,

  -- Returns the job that a request names, or a refusal.
  target = function(job, request)
    if not job then return nil, '!not-found' end
    if request.attempt and number(job.fields.attempt) ~= tonumber(request.attempt) then return nil, '!moved-on' end
    return job
  end,

  -- Runs two operations in one call, at one time. ARGV: clock, number of arguments of the first, those, then the arguments of
  -- the second. Returns the answer of the second, with the answer of the first in front.
  inSequence = function(first, second)
    local all, count = args, tonumber(args[2])
    args = { all[1], unpack(all, 3, 2 + count) }
    context.isFollowedByClaim = true
    local answered = first()
    context.isFollowedByClaim = false
    args = { all[1], unpack(all, 3 + count) }
    local answer = second()
    table.insert(answer, 1, answered)
    return answer
  end,
}
