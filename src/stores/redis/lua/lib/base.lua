-- base: what every script begins with: the prefix of the keys, the arguments, and the function that writes.
--
-- KEYS[1] is {namespace}; every other key begins with it, so that a namespace is one slot of a cluster:
--   {ns}            hash   schema, seen, gapFrom, gapTo, high, seq, token, version, hooks, and `open` (see work.flush);
--                          `step`: a step back of the clock after which not all jobs were looked at yet (see steps);
--                          `standing` and `closed`: where the store stands in a move, and why it takes no changes (core/ports/migration.ts)
--   j               hash   id → record; @worker → that worker's last claim; #… → statistics; %… → throughput; $queue → what its ended jobs take up
--   big             hash   texts too long for a record, by letter and id
--   s:<n>, s        hash   seq → id in pieces of 64, and the zset of those pieces: every job by insertion
--   queues          zset   every queue that has or had a job, by first appearance
--   fifo:<queue>    list   seqs of plain jobs, in the order they are claimed; gone:<queue>: those that left otherwise
--   ready:, later:  zset   the other waiting jobs: by priority (returned work at -inf), and by time
--   blocked:<queue> zset   those that wait for other jobs; wait:, kids:<seq> the open and all edges from a parent, up:<seq> to a child
--   parked:<queue>  zset   those that wait for a slot of a throttle, as in ready; park:<queue>:<address> those of one
--   parks:<address> zset   the queues that have such; slots:<address>: the running jobs that hold one
--   equals:<queue>:<key> zset   those in line that are equal (core/limits/coalesce.ts), by time; folds:<id> those folded into a job
--   needs:<queue>   zset   the addresses by needs (core/limits/resources.ts) under which jobs of it are parked
--   turns:<queue>   zset   key → the last turn it was given; paces, rates: queue → turn served, and core/limits/rate.ts's memory
--   draft:, running:, done:, failed:, cancelled:, relayed:, group:<queue>:<group>, groups:, tag:<tag>, tags   zset
--   cells:, buckets:<queue>   zset   what statistics there are, by day; the cells themselves stand in j (tally.lua)
--   results         hash   queue → no done job that ended before has a result
--   keys, periods   hash   unique key → until and holder; zset of those that end by time
--   workers, records:<kind>, names:<kind>, expiring   zset of records, and of what workers were given, to look at by time
--
-- A record is text: <place><seq> <createdAt> <queue> { \31 name=value } { \31+row } \31:<checksum><data>. Only what is
-- not the default stands in it, and nobody here looks into data, result, checkpoint, detail or policy.
--
-- Invariant: a record is the truth, every index can be made again from it. Invariant: an operation reads and
-- decides first; then work.flush writes, and whatever stops it half-way is mended by the next operation (mend).
--
-- This text runs anew in every call, so it is laid out for that: functions stand in a few tables, because making one
-- takes as many steps as there are locals which some function has captured; tables are written whole, because growing

local P, call, args = KEYS[1], redis.call, ARGV

-- Every write goes through here, so that a test can stop a script at any of them.
local function write(...)
  return call(...)
end

