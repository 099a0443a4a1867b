-- bucket-parking: jobs that are parked until a bucket of a throttle opens (core/operations/limits/buckets.ts). The index needs:<queue>
-- has the time at which each of these parks is checked again.
-- uses: values, context, unit-of-work
-- on demand: buckets, parking

local parking = require('parking')
local buckets = require('buckets')
local bucketParking = {}

-- Closes a bucket until a job can start. Returns the address under which the job is parked.
function bucketParking.parkUnder(bucket, queue, to)
  buckets.close(bucket, to)
  return 'r:' .. queue .. ':' .. bucket.address
end

-- Unparks the first jobs of each bucket of a queue that is open again. Returns whether any was unparked, and whether more may
-- be parked under an open bucket.
function bucketParking.unparkOpen(queue, most, but)
  local key, isBack = 'needs:' .. queue, false
  local parks = call('ZRANGEBYSCORE', P .. key, '(0', context.nowText, 'LIMIT', 0, K.MAX_WAKES)
  local hasLeft = #parks == K.MAX_WAKES
  for i = 1, #parks do
    local bucket = buckets.at(parks[i]:match('^r:[^:]*:(.*)$'))
    local to = buckets.stateOf(bucket).to
    if to > context.now then
      unitOfWork.put(key, text(to), parks[i])
    else
      local back = parking.unpark('park:' .. queue .. ':' .. parks[i], most, but)
      if back < most then unitOfWork.noteMaybeEmpty('park:' .. queue .. ':' .. parks[i]) end
      if back == most then unitOfWork.put(key, context.nowText, parks[i]) end
      isBack, hasLeft = isBack or back > 0, hasLeft or back == most
    end
  end
  return isBack, hasLeft
end

return bucketParking
