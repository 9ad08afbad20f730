-- First header fields of the response to an attempt, each a line `name: value`.
ALTER TABLE attempts ADD COLUMN response_headers TEXT;
