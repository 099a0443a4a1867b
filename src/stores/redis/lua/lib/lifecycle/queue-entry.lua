-- queue-entry: whether a job may enter another queue (core/operations/operate.ts).
-- uses: queue-settings
-- on demand: unique-keys

local uniqueKeys = require('unique-keys')
local queueEntry = {}

-- Returns a refusal if the queue accepts no jobs, or if the job takes its unique key along and another one holds it there.
function queueEntry.refusalOf(job, queue, takesKey)
  local settings = queueSettings.settingsOf(queue)
  if job.queue ~= queue and queueSettings.isClosed(settings) then return '!queue-' .. settings.state .. ' ' .. queue end
  local holder = takesKey and uniqueKeys.keyHolderAgainst(job, queue)
  if holder then return '!key-taken ' .. holder end
end

return queueEntry
