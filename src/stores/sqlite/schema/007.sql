-- Schema 7. Where results begin: no done job of the queue that ended before has one.
ALTER TABLE queues ADD COLUMN results_from INTEGER NOT NULL DEFAULT 0;
