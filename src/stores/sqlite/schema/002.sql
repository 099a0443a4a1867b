-- Schema 2. CRC-32 of a job's data and of its result, as a signed number; null without one, and in rows of schema 1.
ALTER TABLE jobs ADD COLUMN data_sum INTEGER;
ALTER TABLE jobs ADD COLUMN result_sum INTEGER;
