-- queue-settings: the settings of a queue (core/settings/settings.ts).
-- uses: values, context

return {
  layered = function(stored, below)
    if not stored then return below end
    return setmetatable(cjson.decode(stored:match('^[^\31]*\31[^\31]*\31[^\31]*\31(.*)$')), { __index = below })
  end,

  settingsOf = function(queue)
    local known = context.settings[queue]
    if known then return known end
    local own, shared = unpack(call('HMGET', P .. 'records:queue', queue, '*'))
    context.globalSettings = context.globalSettings or queueSettings.layered(shared, K.defaults())
    known = queueSettings.layered(own, context.globalSettings)
    context.settings[queue] = known
    return known
  end,

  -- Returns the retention of a kind: ms, count and bytes, each nil for no limit. A record has only the kinds that were set.
  retentionOf = function(queue, kind)
    local own = queueSettings.settingsOf(queue).retention
    local keep = own[kind] or context.globalSettings.retention[kind] or K.defaults().retention[kind]
    return orNil(keep.ms), orNil(keep.count), orNil(keep.bytes)
  end,

  -- Returns whether the queue accepts no jobs.
  isClosed = function(settings)
    return settings.state == 'down' or settings.state == 'deleted'
  end,
}
