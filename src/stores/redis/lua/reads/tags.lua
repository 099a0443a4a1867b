-- tags: every tag that a job has, and how many have it. ARGV: clock. Returns tag and count of each.
local answer = {}
for _, tag in ipairs(call('ZRANGE', P .. 'tags', 0, -1)) do
  answer[#answer + 1] = tag .. '\31' .. call('ZCARD', P .. 'tag:' .. tag)
end
return table.concat(answer, '\30')
