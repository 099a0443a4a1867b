-- Schema 9. Throughput by minute and by hour: pages of cells in slots that later pages take over (core/statistics/series.ts).

CREATE TABLE series (
  queue  TEXT NOT NULL,
  span   TEXT NOT NULL,
  slot   INTEGER NOT NULL,
  page   INTEGER NOT NULL,
  counts TEXT NOT NULL,
  PRIMARY KEY (queue, span, slot)
) WITHOUT ROWID;
