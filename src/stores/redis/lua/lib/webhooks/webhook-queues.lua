-- webhook-queues: the names of queues that have webhooks.

return {
  -- The queues that have hooks stand by their names where every call looks, so that the others cost nothing. A name too many
  -- does no harm, one too few would lose a call: so it is written before the settings are, and taken away after them.
  hasWebhooks = function(kind, value)
    return kind == 'queue' and value:find('"hooks":[{', 1, true) ~= nil
  end,

  mark = function(queue, isHooked)
    local names = call('HGET', P, 'hooks') or ''
    if names == '' then names = ' ' end
    local at, to = names:find(' ' .. queue .. ' ', 1, true)
    if (at ~= nil) == isHooked then return end
    names = isHooked and names .. queue .. ' ' or names:sub(1, at) .. names:sub(to + 1)
    write('HSET', P, 'hooks', names)
  end,
}
