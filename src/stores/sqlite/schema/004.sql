-- Schema 4. The log of statistics: one row per transaction and group of alike jobs, until it is added to `statistics` and
-- `series`. The log is emptied as a whole, so the largest id is the number of pending entries.
CREATE TABLE statistics_log (
  id    INTEGER PRIMARY KEY,
  entry TEXT NOT NULL          -- JSON, see tables/statistics-log.ts
);
