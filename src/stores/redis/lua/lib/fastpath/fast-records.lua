-- fast-records: reads of records that depend on no time. Each returns whether it answers, and the answer.

return {
  -- A record without an expiry, or none. ARGV and answer as in reads/records-get.lua.
  get = function()
    local stored = call('HGET', P .. 'records:' .. args[2], args[3])
    return not stored or stored:find('^[^\31]*\31\31') ~= nil, stored
  end,

  -- A kind of which there is no record. ARGV and answer as in reads/records-list.lua.
  list = function()
    return call('EXISTS', P .. 'names:' .. args[2]) == 0, {}
  end,
}
