-- steps: the steps of a job. ARGV: clock, id. Returns key and value of each (lib/steps/steps.lua), or nothing.
-- uses: record
local encoded = call('HGET', P .. 'j', args[2])
if not encoded or not record.parse(args[2], encoded).fields.steps then return {} end
return call('HGETALL', P .. 'steps:' .. args[2])
