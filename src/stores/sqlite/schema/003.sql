-- Schema 3. The claim of a worker before its latest one: two of its requests may be in flight. Null without one.
ALTER TABLE claims ADD COLUMN earlier_request TEXT;
ALTER TABLE claims ADD COLUMN earlier_first_token INTEGER;
ALTER TABLE claims ADD COLUMN earlier_last_token INTEGER;
