-- resources: the resources that jobs need and the capacity of workers (core/limits/resources.ts).
-- uses: context

local resources = {}

function resources.readResources(encoded)
  local units = {}
  for unit, count in encoded:gmatch('([%w_]+)=(%d+)') do units[unit] = tonumber(count) end
  return units
end

function resources.fits(needs, room)
  for unit, count in needs:gmatch('([%w_]+)=(%d+)') do
    if tonumber(count) > (room[unit] or 0) then return false end
  end
  return true
end

function resources.spend(needs, room)
  for unit, count in needs:gmatch('([%w_]+)=(%d+)') do room[unit] = (room[unit] or 0) - count end
end

-- Returns whether a job needs more than any registered worker has.
function resources.exceedsAllWorkers(job, settings)
  local needs = job.fields.needs or settings.needs
  if needs == '' then return false end
  local workers = call('HGETALL', P .. 'workers')
  for i = 2, #workers, 2 do
    local worker = workers[i]
    local to = worker:match('^[^\31]*\31[^\31]*\31([^\31]*)')
    local offers = worker:match('offers\\?":\\?"([%w_=,]*)')
    if offers and tonumber(to) > context.now and resources.fits(needs, resources.readResources(offers)) then return false end
  end
  return true
end

return resources
