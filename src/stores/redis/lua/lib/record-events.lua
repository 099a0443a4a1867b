-- record-events: the events that follow a change of a stored record.
-- uses: context, events, queues, record

return {
  -- After a queue's settings were written. Those of every queue are each queue's.
  emitSettings = function(queue)
    events.emit('queue', queue, '', '')
    for _, each in ipairs(queue == '*' and queues.queueNames() or {}) do events.emit('queue', each, '', '') end
  end,

  -- A mark was put on a job or taken from it: core/job/tracked-jobs.ts. Of one that is gone only the id is known.
  emitTracked = function(id, event)
    record.load({ id })
    local job = context.jobs[id]
    events.emit(event, job and job.queue or '', job and STATE[job.place] or '', id)
  end,
}
