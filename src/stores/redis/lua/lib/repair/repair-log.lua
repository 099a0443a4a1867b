-- repair-log: what a repair needs to know if a call is cut short.
-- uses: values, context, unit-of-work
-- on demand: edges

-- Logs a job that leaves a fifo, and notes it for the set of those that left from the middle.
local function logFifo(lines, job)
  lines[#lines + 1] = 'fifo:' .. job.oldFifo .. '\31' .. job.seq
  if job.isPopped then return end
  local left = unitOfWork.pending('leftFifo')
  left[job.oldFifo] = left[job.oldFifo] or {}
  table.insert(left[job.oldFifo], job.seq)
end

return {
  -- Returns the jobs that were touched, and the members that are to be removed.
  text = function()
    local touched, order, seqs, lines = context.touched, context.indexOrder, {}, {}
    for i = 1, #touched do
      local job = touched[i]
      seqs[i] = job.seq
      if job.oldFifo and (job.isDeleted or job.place ~= 'f') then logFifo(lines, job) end
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
