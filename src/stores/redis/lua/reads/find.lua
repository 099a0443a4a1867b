-- find: jobs by id. ARGV: clock, ids. Returns what record.show says of each that there is.
-- uses: context, record
local ids, answer = { select(2, unpack(args)) }, {}
record.load(ids)
for i = 1, #ids do
  local job = context.jobs[ids[i]]
  if job then record.show(answer, job) end
end
return answer
