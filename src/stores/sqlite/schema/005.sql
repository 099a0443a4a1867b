-- Schema 5. Throttles: who holds a slot, who is parked for want of one; turns of keys; rates of queues.

ALTER TABLE jobs ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;

DROP INDEX jobs_ready;
CREATE INDEX jobs_ready ON jobs (queue, priority, turn, run_at) WHERE ready = 1 AND returned_at IS NULL;
-- `ready` is 2 while a job is parked under a throttle.
CREATE INDEX jobs_parked ON jobs (queue, returned_at, priority, turn, run_at) WHERE ready = 2;

-- Who is parked under which throttle, in the order of claims. A row counts while its job has `ready` 2: what left
-- otherwise leaves it behind, and whoever comes upon it removes it.
CREATE TABLE parked (
  address     TEXT NOT NULL,
  queue       TEXT NOT NULL,
  is_fresh    INTEGER NOT NULL, -- 0: returned work, by returned_at alone; 1: by priority, turn and time
  returned_at INTEGER NOT NULL,
  priority    INTEGER NOT NULL,
  turn        INTEGER NOT NULL,
  run_at      INTEGER NOT NULL,
  seq         INTEGER NOT NULL,
  PRIMARY KEY (address, queue, is_fresh, returned_at, priority, turn, run_at, seq)
) WITHOUT ROWID;

-- The slots that running jobs hold. The same stands in `rest` of the job.
CREATE TABLE slots (
  address TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  PRIMARY KEY (address, seq)
) WITHOUT ROWID;

-- The last turn that each key was given, as long as it was not served.
CREATE TABLE turns (
  queue TEXT NOT NULL,
  key   TEXT NOT NULL,
  turn  INTEGER NOT NULL,
  PRIMARY KEY (queue, key)
) WITHOUT ROWID;
CREATE INDEX turns_served ON turns (queue, turn);

-- What a queue has come to: the turn that was served, and what core/limits/rate.ts remembers.
CREATE TABLE paces (
  queue   TEXT PRIMARY KEY,
  turn    INTEGER NOT NULL,
  rate_at REAL NOT NULL
) WITHOUT ROWID;
