-- fast-settings: the settings of a queue, as the fast path (fastpath.lua) knows them.

return {
  -- Returns the settings of a queue: its own, those of every queue, the defaults.
  of = function(name)
    local stored, settings = call('HMGET', P .. 'records:queue', '*', name), FASTPATH.DEFAULTS
    for i = 1, 2 do
      local value = stored[i] and cjson.decode(stored[i]:match('^[^\31]*\31[^\31]*\31[^\31]*\31(.*)$'))
      if value then settings = setmetatable(value, { __index = settings }) end
    end
    return settings
  end,

  isLimited = function(settings)
    local null, throttles = cjson.null, settings.throttles
    return (settings.maxRunning or null) ~= null or (settings.keys or null) ~= null or (settings.rate or null) ~= null
      or (settings.coalesce or null) ~= null or (throttles and #throttles > 0) or (settings.hooks and #settings.hooks > 0)
      or (settings.needs and settings.needs ~= '')
  end,
}
