-- prunable: what retention would take now. ARGV: clock, the queues; without any, all of them.
-- Returns for each queue and state of which something would go: queue, state, how many by age, how many by number.
clock.look()

local answer = {}
local function tell(queue, state, byAge, byCount)
  if byAge + byCount > 0 then answer[#answer + 1] = table.concat({ queue, state, byAge, byCount }, '\31') end
end

for _, queue in ipairs(#args > 1 and { select(2, unpack(args)) } or census.byName()) do
  tell(queue, 'draft', call('ZCOUNT', P .. 'draft:' .. queue, '-inf', '(' .. text(clock.now - K.DRAFT_LIFE_MS)), 0)
  for _, state in ipairs({ 'done', 'failed', 'cancelled' }) do
    local keep, key = queues.settings(queue).retention[state], P .. state .. ':' .. queue
    local ms, count = queues.orNil(keep.ms), queues.orNil(keep.count)
    local old = ms and call('ZCOUNT', key, '-inf', '(' .. text(clock.now - ms)) or 0
    tell(queue, state, old, count and math.max(0, call('ZCARD', key) - old - count) or 0)
  end
end
return table.concat(answer, '\30')
