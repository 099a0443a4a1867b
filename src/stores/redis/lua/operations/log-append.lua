-- log-append: appends output to the log of a running attempt. ARGV: clock, id, token, offset, gap as from-to or '', the output.
-- Returns how much of the output the store has, or a refusal.
-- uses: values, context, operation, record, unit-of-work
-- on demand: stored-logs
operation.begin()

local _, id, token, offset, gap, added = unpack(args)

local function append()
  record.load({ id })
  local job = context.jobs[id]
  if not job then return '!not-found' end
  if not record.holds(job, token) then return '!lease-lost' end
  return text(require('stored-logs').append(job, tonumber(offset), added, gap ~= '' and gap))
end

local answer = append()
unitOfWork.finish()
return answer
