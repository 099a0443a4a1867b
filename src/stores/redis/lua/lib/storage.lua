-- storage: the bytes that ended jobs take up (core/statistics/storage.ts).
-- uses: context

-- Returns the length of a text of a job, inline or long; the data has a checksum before it.
local function sizeOf(job, letter, value)
  if (job.fields.apart or ''):find(letter, 1, true) then
    local pending = context.longTexts and context.longTexts[letter .. job.id]
    local length = pending and #pending or call('HSTRLEN', P .. 'big', letter .. job.id)
    return letter == 'd' and length - 8 or length
  end
  return value and #value
end

return {
  -- Returns the bytes of an ended job, and those of its result, if it has one.
  storedBytes = function(job)
    local result = sizeOf(job, 'r', job.fields.result)
    local steps = tonumber((job.fields.steps or '0'):match('%d+$'))
    return sizeOf(job, 'd', job.data:sub(11)) + (result or 0) + (sizeOf(job, 'v', job.fields.checkpoint) or 0) + steps, result
  end,
}
