-- queues: the names of queues, and lists of their jobs.
-- uses: context, record

return {
  queueNames = function()
    return call('ZRANGE', P .. 'queues', 0, -1)
  end,

  -- Compares by bytes: Lua's own comparison depends on the locale of the server.
  isByteBefore = function(a, b)
    for i = 1, math.min(#a, #b) do
      local byteA, byteB = a:byte(i), b:byte(i)
      if byteA ~= byteB then return byteA < byteB end
    end
    return #a < #b
  end,

  sortedNames = function()
    local all = queues.queueNames()
    table.sort(all, queues.isByteBefore)
    return all
  end,

  -- Returns jobs in the ready indexes that are not due: there are none unless the clock went back.
  notDue = function(queue)
    local found = {}
    if not context.isBehind then return found end
    local function collect(place, members)
      for _, job in ipairs(record.bySeqs(record.seqsOf(members))) do
        local isHere = job and job.place == place and job.queue == queue
        if isHere and record.runAtOf(job) > context.now then found[#found + 1] = job end
      end
    end
    collect('w', call('ZRANGE', P .. 'ready:' .. queue, 0, -1))
    collect('k', call('ZRANGE', P .. 'parked:' .. queue, 0, -1))
    collect('f', call('LRANGE', P .. 'fifo:' .. queue, 0, -1))
    return found
  end,

  -- Returns every running job, queue by queue, the earliest end of a lease first.
  runningJobs = function()
    local running = {}
    for _, queue in ipairs(queues.queueNames()) do
      local members = call('ZRANGE', P .. 'running:' .. queue, 0, -1)
      for _, job in ipairs(record.bySeqs(record.seqsOf(members))) do
        if job then running[#running + 1] = job end
      end
    end
    return running
  end,
}
