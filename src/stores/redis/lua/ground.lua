-- ground: what every script stands on, put before everything else.

local P, call, args = KEYS[1], redis.call, ARGV

-- Every write goes through here, so that a test can stop a script at any of them.
local function write(...)
  return call(...)
end

