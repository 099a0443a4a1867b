-- Schema 1. One row per job. Every fast query has an index of its own, mostly a partial one, so that a job is only in the
-- indexes of its state. Writing a column of an index, or of its condition, costs time. So the rare indexes (drafts,
-- failures) use columns that are written only for them.

-- The store's own numbers. Written at most once per transaction.
CREATE TABLE meta (
  id          INTEGER PRIMARY KEY CHECK (id = 1),
  seq         INTEGER NOT NULL DEFAULT 0, -- the last insertion number given
  token       INTEGER NOT NULL DEFAULT 0, -- the last token given
  version     INTEGER NOT NULL DEFAULT 0, -- the last version of a record given
  seen_at     INTEGER NOT NULL DEFAULT 0, -- the clock at the last write
  gap_from    INTEGER NOT NULL DEFAULT 0,
  gap_to      INTEGER NOT NULL DEFAULT 0,
  ready_until INTEGER NOT NULL DEFAULT 0, -- every job marked ready was due at this time
  step_from      INTEGER,                 -- time of a backward clock step that is still being applied; null without one
  step_after_seq INTEGER                  -- jobs with a larger seq are still to be re-based (core/operations/clock-step.ts)
);
INSERT INTO meta (id) VALUES (1);

-- Every queue that has or had a job, with its counts.
CREATE TABLE queues (
  name      TEXT PRIMARY KEY,
  draft     INTEGER NOT NULL,
  waiting   INTEGER NOT NULL,
  running   INTEGER NOT NULL,
  done      INTEGER NOT NULL,
  failed    INTEGER NOT NULL,
  cancelled INTEGER NOT NULL,
  relayed   INTEGER NOT NULL,
  blocked         INTEGER NOT NULL DEFAULT 0,
  done_bytes      INTEGER NOT NULL DEFAULT 0, -- bytes of the ended jobs (core/statistics/storage.ts)
  failed_bytes    INTEGER NOT NULL DEFAULT 0,
  cancelled_bytes INTEGER NOT NULL DEFAULT 0,
  results         INTEGER NOT NULL DEFAULT 0,
  result_bytes    INTEGER NOT NULL DEFAULT 0,
  results_from    INTEGER NOT NULL DEFAULT 0  -- no done job that ended earlier has a result
) WITHOUT ROWID;

CREATE TABLE jobs (
  seq             INTEGER PRIMARY KEY,
  id              TEXT NOT NULL,
  queue           TEXT NOT NULL,
  state           TEXT NOT NULL,
  ready           INTEGER,        -- null: not waiting; 0: not due yet; 1: waits for a worker; 2: parked under a throttle
  priority        INTEGER NOT NULL,
  run_at          INTEGER NOT NULL,
  returned_at     INTEGER,
  created_at      INTEGER NOT NULL,
  attempt         INTEGER NOT NULL DEFAULT 0,
  token           INTEGER,        -- from here to pause_asked_at: the lease; all null without one
  worker          TEXT,
  lease_ms        INTEGER,
  lease_until     INTEGER,
  claimed_at      INTEGER,
  started_at      INTEGER,
  pid             INTEGER,
  cancel_asked_at INTEGER,
  pause_asked_at  INTEGER,
  ended_at        INTEGER,
  draft_at        INTEGER,        -- when a draft was created; null for every other job
  failed_at       INTEGER,        -- when it failed, and its failure group; null for every job that is not failed
  failure_group   TEXT,
  name            TEXT,
  history_rows    INTEGER NOT NULL DEFAULT 1 CHECK (history_rows <= 100), -- MAX_HISTORY
  rest            TEXT,           -- JSON object of the fields that few jobs have; null when there are none
  result          TEXT,
  checkpoint      TEXT,
  data            TEXT NOT NULL,
  history         TEXT NOT NULL DEFAULT '', -- see tables/history-text.ts
  blocked         INTEGER,        -- 1: waits for other jobs; null for every other job
  turn            INTEGER NOT NULL DEFAULT 0
);

CREATE UNIQUE INDEX jobs_id ON jobs (id);
-- Every index ends with `seq`, the rowid, as all indexes of SQLite do.
CREATE INDEX jobs_ready ON jobs (queue, priority, turn, run_at) WHERE ready = 1 AND returned_at IS NULL;
CREATE INDEX jobs_returned ON jobs (queue, returned_at) WHERE ready = 1 AND returned_at IS NOT NULL;
CREATE INDEX jobs_later ON jobs (queue, run_at) WHERE ready = 0;
CREATE INDEX jobs_leased ON jobs (queue, lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX jobs_ended ON jobs (queue, state, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX jobs_failed ON jobs (queue, failure_group, failed_at) WHERE failed_at IS NOT NULL;
CREATE INDEX jobs_draft ON jobs (draft_at) WHERE draft_at IS NOT NULL;
CREATE INDEX jobs_named ON jobs (name) WHERE name IS NOT NULL;
CREATE INDEX jobs_blocked ON jobs (queue) WHERE blocked IS NOT NULL;
CREATE INDEX jobs_parked ON jobs (queue, returned_at, priority, turn, run_at) WHERE ready = 2;
-- For lists of ended jobs: the newest of a queue and state; a covering index for `created_at`.
CREATE INDEX jobs_newest ON jobs (queue, state, seq, created_at) WHERE ended_at IS NOT NULL;

CREATE TABLE tags (
  tag TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (tag, seq)
) WITHOUT ROWID;

-- The job that holds each unique key; `until` is null without a period.
CREATE TABLE keys (
  address TEXT PRIMARY KEY,
  job     TEXT NOT NULL,
  until   INTEGER
) WITHOUT ROWID;

-- The latest claim of each worker. The tokens of a claim are consecutive, so the first and the last identify them all.
CREATE TABLE claims (
  worker      TEXT PRIMARY KEY,
  request     TEXT NOT NULL,
  at          INTEGER NOT NULL,
  first_token INTEGER NOT NULL,
  last_token  INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE workers (
  id            TEXT PRIMARY KEY,
  host          TEXT NOT NULL,
  pid           INTEGER NOT NULL,
  queues        TEXT NOT NULL,      -- JSON
  info          TEXT NOT NULL,
  registered_at INTEGER NOT NULL,
  seen_at       INTEGER NOT NULL,
  until         INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE records (
  kind       TEXT NOT NULL,
  key        TEXT NOT NULL,
  version    INTEGER NOT NULL,
  value      TEXT NOT NULL,
  expires_at INTEGER,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (kind, key)
) WITHOUT ROWID;
CREATE INDEX records_expiring ON records (expires_at) WHERE expires_at IS NOT NULL;

-- The engines that have this file open. Another engine removes a row whose process is gone.
CREATE TABLE peers (
  id         TEXT PRIMARY KEY,
  pid        INTEGER NOT NULL,
  started_at TEXT NOT NULL,         -- from /proc; with the boot id it makes a pid unique
  boot       TEXT NOT NULL
) WITHOUT ROWID;

-- Events for the other engines: one row per transaction, written only while there are others.
CREATE TABLE events (
  id     INTEGER PRIMARY KEY,
  peer   TEXT NOT NULL,
  events TEXT NOT NULL              -- JSON
);

-- Statistics: one row per cell, which is a queue, a UTC day, a kind and a name.
CREATE TABLE statistics (
  queue   TEXT NOT NULL,
  day     INTEGER NOT NULL,           -- since the epoch
  kind    TEXT NOT NULL,              -- queue, tag, worker or group
  name    TEXT NOT NULL,              -- empty for kind queue
  figures TEXT NOT NULL,              -- see core/statistics/aggregate.ts
  PRIMARY KEY (queue, day, kind, name)
) WITHOUT ROWID;

-- Dependencies, by `seq`. An edge is deleted with its child; one whose parent is deleted is closed.
CREATE TABLE edges (
  parent INTEGER NOT NULL,
  child  INTEGER NOT NULL,
  open   INTEGER NOT NULL,          -- 1: the child waits for the parent; 0: it did
  PRIMARY KEY (parent, child)
) WITHOUT ROWID;
CREATE INDEX edges_child ON edges (child, parent, open);

-- Jobs parked under a throttle, in claim order. A row is valid while its job has `ready` 2. A job that leaves in another
-- way leaves a stale row behind, which the next reader deletes.
CREATE TABLE parked (
  address     TEXT NOT NULL,
  queue       TEXT NOT NULL,
  is_fresh    INTEGER NOT NULL, -- 0: returned jobs, ordered by returned_at only; 1: ordered by priority, turn and time
  returned_at INTEGER NOT NULL,
  priority    INTEGER NOT NULL,
  turn        INTEGER NOT NULL,
  run_at      INTEGER NOT NULL,
  seq         INTEGER NOT NULL,
  PRIMARY KEY (address, queue, is_fresh, returned_at, priority, turn, run_at, seq)
) WITHOUT ROWID;

-- The slots that running jobs hold. Also in `rest` of the job.
CREATE TABLE slots (
  address TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  PRIMARY KEY (address, seq)
) WITHOUT ROWID;

-- The last turn that each key was given, until it is served.
CREATE TABLE turns (
  queue TEXT NOT NULL,
  key   TEXT NOT NULL,
  turn  INTEGER NOT NULL,
  PRIMARY KEY (queue, key)
) WITHOUT ROWID;
CREATE INDEX turns_served ON turns (queue, turn);

-- Per queue: the turn that was served, and the state of its rate limit (core/limits/rate.ts).
CREATE TABLE paces (
  queue   TEXT PRIMARY KEY,
  turn    INTEGER NOT NULL,
  rate_at REAL NOT NULL
) WITHOUT ROWID;

-- Coalescing: waiting jobs by their coalesce key, and jobs that are coalesced into another. Also in `rest` of the job.

CREATE TABLE equals (
  queue  TEXT NOT NULL,
  key    TEXT NOT NULL,
  run_at INTEGER NOT NULL,
  seq    INTEGER NOT NULL,
  PRIMARY KEY (queue, key, run_at, seq)
) WITHOUT ROWID;

-- Only while the coalesced job waits for its leader to end.
CREATE TABLE folds (
  leader TEXT NOT NULL,
  seq    INTEGER NOT NULL,
  PRIMARY KEY (leader, seq)
) WITHOUT ROWID;

-- Throughput by minute and by hour: pages of cells in a ring of slots that later pages overwrite (core/statistics/series.ts).

CREATE TABLE series (
  queue  TEXT NOT NULL,
  span   TEXT NOT NULL,
  slot   INTEGER NOT NULL,
  page   INTEGER NOT NULL,
  counts TEXT NOT NULL,
  PRIMARY KEY (queue, span, slot)
) WITHOUT ROWID;
