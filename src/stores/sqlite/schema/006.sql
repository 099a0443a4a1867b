-- Schema 6. Buckets of throttles (core/limits/bucket.ts), and when the jobs parked under one may be claimable.
CREATE TABLE buckets (
  address TEXT PRIMARY KEY,
  at      REAL NOT NULL,
  until   REAL NOT NULL,
  seen    REAL NOT NULL,
  version INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX buckets_idle ON buckets (max(at, until));
CREATE TABLE wakes (
  park  TEXT PRIMARY KEY,
  queue TEXT NOT NULL,
  name  TEXT NOT NULL,          -- of the throttle
  at    REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX wakes_due ON wakes (queue, at, park);
CREATE INDEX wakes_of ON wakes (name);
