-- find: jobs by id. ARGV: clock, ids. Returns what `show` says of each that there is.
local ids = { select(2, unpack(ARGV)) }
load(ids)
local answer = {}
for i = 1, #ids do
  if jobs[ids[i]] then show(answer, jobs[ids[i]]) end
end
return answer
