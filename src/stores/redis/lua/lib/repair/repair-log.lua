-- repair-log: what a repair must know if a call does not come to its end.
-- uses: values, context
-- on demand: edges

-- What leaves a fifo: for the mender, and from the middle for the set of those that are gone.
local function logFifo(lines, job)
  lines[#lines + 1] = 'fifo:' .. job.wasIn .. '\31' .. job.seq
  if job.isPopped then return end
  context.leftFifo = context.leftFifo or {}
  context.leftFifo[job.wasIn] = context.leftFifo[job.wasIn] or {}
  table.insert(context.leftFifo[job.wasIn], job.seq)
end

return {
  -- What a mender must know if this operation does not come to its end: who was touched, and what was to be left.
  text = function()
    local touched, order, seqs, lines = context.touched, context.indexOrder, {}, {}
    for i = 1, #touched do
      local job = touched[i]
      seqs[i] = job.seq
      if job.wasIn and (job.isDeleted or job.place ~= 'f') then logFifo(lines, job) end
    end
    if context.newJobs then seqs[#seqs + 1] = text(context.newJobs.first) .. '-' .. text(context.seq) end
    for queue, leftovers in pairs(context.leftovers or {}) do
      if #leftovers > 0 then lines[#lines + 1] = 'fifo:' .. queue .. '\31' .. table.concat(leftovers, '\31') end
    end
    for i = 1, #order do
      local members = order[i].members
      if #members > 0 then lines[#lines + 1] = order[i].key .. '\31' .. table.concat(members, '\31') end
    end
    if context.notedKeys then lines[#lines + 1] = 'keys\31' .. table.concat(context.notedKeys, '\31') end
    if context.edges then require('edges').log(lines) end
    return table.concat(seqs, ' ') .. '\30' .. table.concat(lines, '\30')
  end,
}
