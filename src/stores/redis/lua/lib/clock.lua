-- clock: the time of a call: core/lifecycle/clock.ts.
-- uses: values, context

return {
  reading = function()
    local mode, given = args[1]:match('^(%a*) ?(.*)$')
    context.clockSource = mode
    if mode ~= 'store' and given ~= '' then return tonumber(given) end
    local time = call('TIME')
    return time[1] * 1000 + math.floor(time[2] / 1000)
  end,

  -- What a look needs: the time, and whether it lies before one that placed jobs among the ready ones.
  readClock = function()
    local seen, gapFrom, gapTo, high, seq, token, open, closed, hooked, step =
      unpack(call('HMGET', P, 'seen', 'gapFrom', 'gapTo', 'high', 'seq', 'token', 'open', 'closed', 'hooks', 'step'))
    context.closed = closed and closed ~= '' and closed or nil
    local reading = clock.reading()
    seen, gapFrom, gapTo, high = number(seen), number(gapFrom), number(gapTo), number(high)
    context.stored.seen, context.stored.gapFrom, context.stored.gapTo, context.stored.high = seen, gapFrom, gapTo, high
    context.seq, context.token, context.unfinished, context.webhookQueues = number(seq), number(token), open, hooked and hooked ~= '' and hooked
    context.stored.seq, context.stored.token = context.seq, context.token
    if step and step ~= '' then
      local from, after = step:match('^(%S+) (%S+)$')
      context.stored.step, context.stepFrom, context.stepAfter = step, tonumber(from), tonumber(after)
    end
    context.now, context.high, context.gapFrom, context.gapTo = reading, math.max(high, seen), 0, 0
    if context.clockSource ~= 'caller' and seen - reading <= K.CLAMP_MS then
      context.now, context.gapFrom, context.gapTo = math.max(reading, seen), gapFrom, gapTo
      if seen > 0 and context.now - seen > K.GAP_MS then context.gapFrom, context.gapTo = seen, context.now end
    end
    context.isBehind = context.now < context.high
    context.nowText = text(context.now)
  end,

  -- The fields of the clock that this call changes.
  changes = function()
    local now, high, fields = context.now, context.high, {}
    if context.clockSource == 'caller' then
      if now > high then fields = { 'high', context.nowText } end
      context.high = math.max(now, high)
      return fields
    end
    if now ~= context.stored.seen then fields = { 'seen', context.nowText } end
    if context.gapFrom ~= context.stored.gapFrom or context.gapTo ~= context.stored.gapTo then
      fields[#fields + 1] = 'gapFrom'; fields[#fields + 1] = text(context.gapFrom)
      fields[#fields + 1] = 'gapTo'; fields[#fields + 1] = text(context.gapTo)
    end
    if (context.isBehind or context.isHighLowered) and high ~= context.stored.high then
      fields[#fields + 1] = 'high'; fields[#fields + 1] = text(high)
    end
    local step = context.stepFrom and text(context.stepFrom) .. ' ' .. text(context.stepAfter) or ''
    if step ~= context.stored.step then
      fields[#fields + 1] = 'step'; fields[#fields + 1] = step
      context.stored.step = step
    end
    context.stored.seen, context.stored.gapFrom, context.stored.gapTo, context.stored.high = now, context.gapFrom, context.gapTo, high
    return fields
  end,
}
