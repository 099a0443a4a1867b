-- events: collects the events of a call, and publishes them.
-- uses: context

return {
  -- Adds an event and returns the group of equal events, to which a caller may append ids.
  emit = function(event, queue, state, id)
    local group = context.events[#context.events]
    if not group or group[1] ~= event or group[3] ~= queue or group[2] ~= state then
      group = { event, state, queue }
      context.events[#context.events + 1] = group
    end
    group[#group + 1] = id
    return group
  end,

  -- Publishes all events to `events`, and those of WORK_EVENTS (core/ports/job-store.ts) to `work` too.
  publish = function()
    local lines, about, isAbout = {}, {}, nil
    for i = 1, #context.events do
      local group = context.events[i]
      lines[i] = table.concat(group, '\31')
      if group[2] ~= 'waiting' and not isAbout then isAbout = K.workEvents() end
      if group[2] == 'waiting' or isAbout[group[1]] then about[#about + 1] = lines[i] end
    end
    if #lines > 0 then call('PUBLISH', P .. 'events', table.concat(lines, '\30')) end
    if #about > 0 then call('PUBLISH', P .. 'work', table.concat(about, '\30')) end
    context.events = {}
  end,
}
