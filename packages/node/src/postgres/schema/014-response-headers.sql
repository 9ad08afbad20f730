-- First header fields of the response to an attempt, as in the node's database (store/migrations).
ALTER TABLE attempts ADD COLUMN response_headers text;
