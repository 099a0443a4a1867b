-- find: jobs by id. ARGV: clock, ids. Returns each that exists as record.show writes it.
-- uses: context, record
local ids, answer = { select(2, unpack(args)) }, {}
record.load(ids)
for i = 1, #ids do
  local job = context.jobs[ids[i]]
  if job then record.show(answer, job) end
end
return answer
