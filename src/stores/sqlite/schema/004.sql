-- Schema 4: dependencies between jobs. A job that waits for others is marked in a column of its own and is not `ready`,
-- so neither a claim nor the indexes of other jobs ever meet it.

ALTER TABLE jobs ADD COLUMN blocked INTEGER; -- 1: waits for other jobs; null for every other job
CREATE INDEX jobs_blocked ON jobs (queue) WHERE blocked IS NOT NULL;

ALTER TABLE queues ADD COLUMN blocked INTEGER NOT NULL DEFAULT 0;

-- By insertion numbers. An edge goes with its child; one whose parent is gone is closed.
CREATE TABLE edges (
  parent INTEGER NOT NULL,
  child  INTEGER NOT NULL,
  open   INTEGER NOT NULL,          -- 1: the child waits for the parent; 0: it did
  PRIMARY KEY (parent, child)
) WITHOUT ROWID;
CREATE INDEX edges_child ON edges (child, parent, open);
