-- Schema 10. A step back of the clock after which not all jobs were looked at yet (core/operations/clock-step.ts).
ALTER TABLE meta ADD COLUMN step_from INTEGER;      -- the time of the step; null: there is none
ALTER TABLE meta ADD COLUMN step_after_seq INTEGER; -- jobs with a larger seq were not looked at
