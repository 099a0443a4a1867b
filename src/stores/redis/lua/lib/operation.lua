-- operation: how operations begin, read their requests, and end.
-- uses: values, clock, context, record, unit-of-work
-- on demand: clock-step, repair

-- One request of several: its first word, what it says, and where the next one begins. Texts that stand apart follow it.
local function readRequest(at)
  local words = args[at]
  local kind = words:match('^[^\31]*')
  local said = record.fieldsOf(words)
  at = at + 1
  if said.apart then
    said.texts = {}
    for letter in said.apart:gmatch('.') do
      said.texts[letter] = args[at]
      at = at + 1
    end
  end
  return kind, said, at
end

return {
  -- A changing operation begins with the time, what an earlier one left undone, and what a step of the clock left behind.
  begin = function()
    if context.hasBegun then return end
    context.hasBegun = true
    clock.readClock()
    if context.unfinished and context.unfinished ~= '' then require('repair').repair() end
    if context.clockSource == 'caller' then return end
    if context.stored.seen - context.now > K.CLAMP_MS then require('clock-step').stepBack() end
    if context.stepFrom and not context.closed then require('clock-step').rebaseSome() end
    if #context.touched > 0 then unitOfWork.flush() end
  end,

  -- Each request of a list: id, then its words. `each` answers a word or a refusal, which begins with `!`.
  forEach = function(each)
    local ids, kinds, saids, at = {}, {}, {}, 2
    while args[at] do
      local n = #ids + 1
      ids[n] = args[at]
      kinds[n], saids[n], at = readRequest(at + 1)
    end
    record.load(ids)
    local answers, jobs = {}, context.jobs
    for i = 1, #ids do answers[i] = each(jobs[ids[i]], saids[i], kinds[i]) end
    unitOfWork.finish()
    return table.concat(answers, '\31')
  end,

  -- A store that moves house does not do this at all: the refusal of each request, or nothing in an ordinary store.
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

  -- The job a caller means, or why it cannot be meant.
  target = function(job, said)
    if not job then return nil, '!not-found' end
    if said.attempt and number(job.fields.attempt) ~= tonumber(said.attempt) then return nil, '!moved-on' end
    return job
  end,

  -- Two operations in one call, at one moment. ARGV: clock, how many arguments are the first one's, those, then the
  -- second one's. Returns what the second does, with what the first does before it.
  inSequence = function(first, second)
    local all, count = args, tonumber(args[2])
    args = { all[1], unpack(all, 3, 2 + count) }
    context.isFollowedByClaim = true
    local said = first()
    context.isFollowedByClaim = false
    args = { all[1], unpack(all, 3 + count) }
    local answer = second()
    table.insert(answer, 1, said)
    return answer
  end,
}
