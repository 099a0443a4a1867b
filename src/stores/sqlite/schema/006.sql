-- Schema 6. What the ended jobs of a queue take up (core/statistics/storage.ts), as sums beside their numbers.
ALTER TABLE queues ADD COLUMN done_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE queues ADD COLUMN failed_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE queues ADD COLUMN cancelled_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE queues ADD COLUMN results INTEGER NOT NULL DEFAULT 0;
ALTER TABLE queues ADD COLUMN result_bytes INTEGER NOT NULL DEFAULT 0;

CREATE TEMP TABLE kept AS
  SELECT queue, state, sum(octet_length(data) + ifnull(octet_length(result), 0) + ifnull(octet_length(checkpoint), 0)) AS bytes,
    count(result) AS results, ifnull(sum(octet_length(result)), 0) AS result_bytes
  FROM jobs WHERE ended_at IS NOT NULL GROUP BY queue, state;
UPDATE queues SET
  done_bytes = ifnull((SELECT bytes FROM kept WHERE queue = name AND state = 'done'), 0),
  failed_bytes = ifnull((SELECT bytes FROM kept WHERE queue = name AND state = 'failed'), 0),
  cancelled_bytes = ifnull((SELECT bytes FROM kept WHERE queue = name AND state = 'cancelled'), 0),
  results = ifnull((SELECT kept.results FROM kept WHERE queue = name AND state = 'done'), 0),
  result_bytes = ifnull((SELECT kept.result_bytes FROM kept WHERE queue = name AND state = 'done'), 0);
DROP TABLE kept;
