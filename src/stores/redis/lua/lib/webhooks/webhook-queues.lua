-- webhook-queues: the stored names of the queues that have webhooks, so that calls of other queues cost nothing.

return {
  hasWebhooks = function(kind, value)
    return kind == 'queue' and value:find('"hooks":[{', 1, true) ~= nil
  end,

  -- Adds or removes the name of a queue. A missing name would lose calls, a surplus one is harmless: so it is added before the
  -- settings are written, and removed after them.
  mark = function(queue, hasWebhooks)
    local names = call('HGET', P, 'hooks') or ''
    if names == '' then names = ' ' end
    local at, to = names:find(' ' .. queue .. ' ', 1, true)
    if (at ~= nil) == hasWebhooks then return end
    names = hasWebhooks and names .. queue .. ' ' or names:sub(1, at) .. names:sub(to + 1)
    write('HSET', P, 'hooks', names)
  end,
}
