-- clock: the time of a call (core/lifecycle/clock.ts).
-- uses: values, context

return {
  reading = function()
    local mode, given = args[1]:match('^(%a*) ?(.*)$')
    context.clockSource = mode
    if mode ~= 'store' and given ~= '' then return tonumber(given) end
    local time = call('TIME')
    return time[1] * 1000 + math.floor(time[2] / 1000)
  end,

  -- Reads the time, the counters and the state of the store into the context. `isBehind`: an earlier call saw a later time, so
  -- jobs in the ready indexes may not be due.
  readClock = function()
    local stored = context.stored
    local seen, gapFrom, gapTo, high, seq, token, unfinished, closed, hooks, step =
      unpack(call('HMGET', P, 'seen', 'gapFrom', 'gapTo', 'high', 'seq', 'token', 'open', 'closed', 'hooks', 'step'))
    context.closed = closed and closed ~= '' and closed or nil
    local reading = clock.reading()
    seen, gapFrom, gapTo, high = number(seen), number(gapFrom), number(gapTo), number(high)
    stored.seen, stored.gapFrom, stored.gapTo, stored.high = seen, gapFrom, gapTo, high
    context.seq, context.token, context.unfinished = number(seq), number(token), unfinished
    context.webhookQueues = hooks and hooks ~= '' and hooks
    stored.seq, stored.token = context.seq, context.token
    if step and step ~= '' then
      local from, after = step:match('^(%S+) (%S+)$')
      stored.step, context.stepFrom, context.stepAfter = step, tonumber(from), tonumber(after)
    end
    context.now, context.high, context.gapFrom, context.gapTo = reading, math.max(high, seen), 0, 0
    if context.clockSource ~= 'caller' and seen - reading <= K.CLAMP_MS then
      context.now, context.gapFrom, context.gapTo = math.max(reading, seen), gapFrom, gapTo
      if seen > 0 and context.now - seen > K.GAP_MS then context.gapFrom, context.gapTo = seen, context.now end
    end
    context.isBehind = context.now < context.high
    context.nowText = text(context.now)
  end,

  -- Returns the stored fields of the clock that this call changes.
  changes = function()
    local now, high, stored, fields = context.now, context.high, context.stored, {}
    if context.clockSource == 'caller' then
      if now > high then fields = { 'high', context.nowText } end
      context.high = math.max(now, high)
      return fields
    end
    if now ~= stored.seen then fields = { 'seen', context.nowText } end
    if context.gapFrom ~= stored.gapFrom or context.gapTo ~= stored.gapTo then
      fields[#fields + 1] = 'gapFrom'; fields[#fields + 1] = text(context.gapFrom)
      fields[#fields + 1] = 'gapTo'; fields[#fields + 1] = text(context.gapTo)
    end
    if (context.isBehind or context.isHighLowered) and high ~= stored.high then
      fields[#fields + 1] = 'high'; fields[#fields + 1] = text(high)
    end
    local step = context.stepFrom and text(context.stepFrom) .. ' ' .. text(context.stepAfter) or ''
    if step ~= stored.step then
      fields[#fields + 1] = 'step'; fields[#fields + 1] = step
      stored.step = step
    end
    stored.seen, stored.gapFrom, stored.gapTo, stored.high = now, context.gapFrom, context.gapTo, high
    return fields
  end,
}
