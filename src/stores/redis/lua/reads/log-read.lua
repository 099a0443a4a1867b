-- log-read: a part of a log. ARGV: clock, id, attempt, offset, the most bytes. Returns nil for an attempt without a log, or
-- its text, offset, size, generation, head, dropped bytes and gaps.
-- uses: values
-- on demand: stored-logs
local storedLogs = require('stored-logs')
local _, id, attempt, from, most = unpack(args)
local log = storedLogs.read(id, attempt)
if not log then return false end

-- Returns the bytes without the incomplete character at their end.
local function wholeCharacters(bytes)
  for back = 1, math.min(3, #bytes) do
    local byte = bytes:byte(-back)
    if byte < 0x80 then return bytes end
    if byte >= 0xC0 then
      local length = byte >= 0xF0 and 4 or byte >= 0xE0 and 3 or 2
      return length > back and bytes:sub(1, -back - 1) or bytes
    end
  end
  return bytes
end

local start = math.min(tonumber(from), log.size)
local found = wholeCharacters(storedLogs.bytes(id, attempt, log, start, start + tonumber(most)))
return {
  found, text(start), text(start + #found), text(log.size), text(log.generation), text(log.head), text(log.dropped), log.gaps,
}
