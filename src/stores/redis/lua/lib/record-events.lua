-- record-events: emits the events of a changed record: the settings of a queue, or a mark on a job.
-- uses: context, events, queues, record

return {
  -- Emits a change of settings; for the global settings, one event per queue.
  emitSettings = function(queue)
    events.emit('queue', queue, '', '')
    for _, each in ipairs(queue == '*' and queues.queueNames() or {}) do events.emit('queue', each, '', '') end
  end,

  -- Emits that a job is tracked or no longer tracked (core/job/tracked-jobs.ts). The job may be deleted.
  emitTracked = function(id, event)
    record.load({ id })
    local job = context.jobs[id]
    events.emit(event, job and job.queue or '', job and STATE[job.place] or '', id)
  end,
}
