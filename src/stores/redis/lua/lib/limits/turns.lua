-- turns: the turns that the keys of a queue take (core/operations/throttles.ts).
-- uses: values, context, queue-settings, unit-of-work
-- on demand: throttles

local throttles = require('throttles')
local turns = {}

-- Gives a job that enters a queue with keys its turn.
function turns.withTurn(job)
  local queue, keys = job.queue, orNil(queueSettings.settingsOf(job.queue).keys)
  job.fields.turn = nil
  if not keys then return end
  local key = throttles.keyOf(job, keys) or ''
  context.lastTurns[queue] = context.lastTurns[queue] or {}
  local last = context.lastTurns[queue][key] or number(call('ZSCORE', P .. 'turns:' .. queue, key))
  local turn = math.max(turns.servedTurn(queue), last) + 1
  context.lastTurns[queue][key], job.fields.turn = turn, text(turn)
  unitOfWork.put('turns:' .. queue, text(turn), key)
end

function turns.servedTurn(queue)
  context.servedTurns[queue] = context.servedTurns[queue] or number(call('HGET', P .. 'paces', queue))
  return context.servedTurns[queue]
end

function turns.serveTurn(queue, turn)
  if turn <= turns.servedTurn(queue) then return end
  context.servedTurns[queue] = turn
  write('HSET', P .. 'paces', queue, text(turn))
  write('ZREMRANGEBYSCORE', P .. 'turns:' .. queue, '-inf', text(turn))
end

return turns
