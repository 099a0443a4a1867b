-- Schema 5. Durable steps of jobs (core/job/step.ts). The sums of a job's steps are in jobs.rest.
CREATE TABLE steps (
  job        INTEGER NOT NULL,  -- jobs.seq
  kind       TEXT NOT NULL,
  name       TEXT NOT NULL,
  number     INTEGER NOT NULL,
  status     TEXT NOT NULL,
  result     TEXT,
  failure    TEXT,
  attempts   INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at   INTEGER,
  until      INTEGER,
  PRIMARY KEY (job, kind, name)
);
