-- context: the state of one call. No module has variables of its own that change.

return {
  -- The time of the call, the counters, and the state of the store: see clock.readClock.
  hasBegun = false, now = 0, nowText = '', clockSource = '', gapFrom = 0, gapTo = 0, isBehind = false, high = 0,
  unfinished = '', closed = nil, webhookQueues = false,
  seq = 0, token = 0, -- the last that were given
  stepFrom = nil, stepAfter = 0, isHighLowered = false, -- see clock-step.lua
  stored = { seen = 0, gapFrom = 0, gapTo = 0, high = 0, seq = 0, token = 0, step = '' },

  -- What was read.
  jobs = {}, -- id → job with the changes of this call, or false
  settings = {}, globalSettings = false, -- by queue; and those of queues that set nothing themselves
  knownKeys = {}, slotCounts = {}, slotLimits = {}, throttleLists = {}, lastTurns = {}, servedTurns = {},
  -- namedThrottles, bucketStates, appendBuckets: made by throttles.lua and buckets.lua.

  -- What is to be written: see unit-of-work.lua. Those that are nil are made by unitOfWork.pending.
  touched = {}, indexes = {}, indexOrder = {}, -- jobs; key of an index → its changes; those in order
  newJobs = nil, longTexts = nil, newQueues = nil, claim = nil, deleted = nil, popped = nil, leftovers = nil, leftFifo = nil,
  maybeEmpty = nil, notedKeys = nil, uniqueKeys = nil, edges = nil, parkedReaders = nil, steps = nil,
  events = {}, isFollowedByClaim = false,
}
