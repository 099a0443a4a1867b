-- step-writes: writes the steps that a call keeps or clears (steps.lua). The records are written before: a step without its sums
-- would be kept forever, and sums without their step only count too much.
-- uses: unit-of-work

return {
  -- Deletes the steps of a job that was touched.
  clear = function(job)
    job.fields.steps = nil
    unitOfWork.pending('steps')[job.id] = false
  end,

  write = function(changes)
    for id, written in pairs(changes) do
      local list = { P .. 'steps:' .. id }
      if not written or written.isNew then write('DEL', list[1]) end
      for key, encoded in pairs(written or {}) do
        if key ~= 'isNew' then list[#list + 1], list[#list + 2] = key, encoded end
      end
      if #list > 1 then write('HSET', unpack(list)) end
    end
  end,
}
