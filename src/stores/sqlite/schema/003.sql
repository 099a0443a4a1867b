-- Schema 3. Statistics: a row a cell, which is a queue, a UTC day, and what it is told apart by.
CREATE TABLE statistics (
  queue   TEXT NOT NULL,
  day     INTEGER NOT NULL,           -- since the epoch
  kind    TEXT NOT NULL,              -- queue, tag, worker or group
  name    TEXT NOT NULL,              -- empty for kind queue
  figures TEXT NOT NULL,              -- see core/statistics/aggregate.ts
  PRIMARY KEY (queue, day, kind, name)
) WITHOUT ROWID;
