-- base: what every script begins with: the key prefix, the arguments, and the function that writes.
--
-- KEYS[1] is {namespace}. Every other key begins with it, so that a namespace is one slot of a cluster:
--   {ns}            hash   schema, seen, gapFrom, gapTo, high, seq, token, version, hooks; `open`: the log of unit-of-work.lua;
--                          `step`: see clock-step.lua; `standing`, `closed`: state in a migration (core/ports/migration.ts);
--                          `reign`, `reignOf`: see epoch.lua
--   j               hash   id → record; @worker → its last claim; +… → the log of statistics (statistics.lua);
--                          #… → cells of statistics, %… → throughput, $queue → storage sums (aggregates.lua);
--                          !bucket of a throttle → its times and version (core/limits/bucket.ts)
--   big             hash   long texts, by letter and id
--   s:<n>, s        hash   seq → id in pieces of 64, and the zset of the pieces: every job by insertion
--   queues          zset   every queue that has or had a job, by first appearance
--   fifo:<queue>    list   seqs of plain jobs in claim order; gone:<queue>: those that left otherwise
--   ready:, later:  zset   the other waiting jobs: by priority (returned jobs at -inf), and by run time
--   marker:<queue>  zset   one member, set by an add of a job that may be claimed: a claim that waits pops it
--   blocked:<queue> zset   jobs that wait for other jobs; wait:, kids:<seq> the open and all edges of a parent, up:<seq> of a child
--   parked:<queue>  zset   jobs that wait for a slot of a throttle, as in ready; park:<queue>:<address> those of one throttle
--   parks:<address> zset   the queues with parked jobs; slots:<address>: the running jobs that hold a slot
--   equals:<queue>:<key> zset   equal waiting jobs (core/limits/coalesce.ts), by run time; folds:<id>: jobs coalesced into a job
--   needs:<queue>   zset   the addresses under which its jobs are parked that a claim unparks: by needs (core/limits/resources.ts)
--                          with score 0, and by buckets of throttles with the time of the next check (bucket-parking.lua)
--   bucket-ends     zset   the buckets of throttles, by when they are idle
--   turns:<queue>   zset   key → its last turn; paces: queue → turn served; rates: queue → time of core/limits/rate.ts
--   draft:, running:, done:, failed:, cancelled:, relayed:, group:<queue>:<group>, groups:, tag:<tag>, tags   zset
--   cells:, buckets:<queue>   zset   the days of the statistics; the cells themselves are in j
--   results         hash   queue → the end of the last done job whose result was pruned
--   steps:<id>      hash   kind and name of a step → the step (steps.lua)
--   log:<id>:<attempt>   hash   the log of an attempt (stored-logs.lua); logs:<id>: hash of its attempts with a log → queue
--   logged:<queue>  zset   <id>:<attempt> of its logs by their last write; log-bytes: hash of queue → their bytes
--   keys, periods   hash   unique key → until and holder; zset of the keys that end by time
--   workers, records:<kind>, names:<kind>, expiring   records, and the zset of what expires: records and claims
--
-- A record is text: <place><seq> <createdAt> <queue> { \31 name=value } { \31+row } \31:<checksum><data>. It has no fields with
-- default values. The scripts never parse data, result, checkpoint, detail or policy.
--
-- Invariant: every index can be rebuilt from the records. Invariant: an operation reads and decides first, then it writes. A call
-- that is cut short is repaired by the next one (repair.lua).
--
-- A script is set up anew in every call, which costs more than many operations. So modules are tables of functions, made in one
-- constructor, and those that few calls need are set up by `require`.

local P, call, args = KEYS[1], redis.call, ARGV

-- All writes use this function, so that a test can stop a script before any of them.
local function write(...)
  return call(...)
end
