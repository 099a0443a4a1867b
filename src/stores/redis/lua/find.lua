-- find: jobs by id. ARGV: clock, ids. Returns what record.show says of each that there is.
local ids, answer = { select(2, unpack(args)) }, {}
record.load(ids)
for i = 1, #ids do
  local job = record.jobs[ids[i]]
  if job then record.show(answer, job) end
end
return answer
