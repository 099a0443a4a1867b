-- Schema 8. Coalescing: jobs in line by what makes them equal, and who is folded into whom. The same stands in `rest`.

CREATE TABLE equals (
  queue  TEXT NOT NULL,
  key    TEXT NOT NULL,
  run_at INTEGER NOT NULL,
  seq    INTEGER NOT NULL,
  PRIMARY KEY (queue, key, run_at, seq)
) WITHOUT ROWID;

-- Only while the job waits for the end of the one it is folded into.
CREATE TABLE folds (
  leader TEXT NOT NULL,
  seq    INTEGER NOT NULL,
  PRIMARY KEY (leader, seq)
) WITHOUT ROWID;
