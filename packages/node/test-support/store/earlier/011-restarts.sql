-- Queues that begin anew, because their webhook was resumed or has another target: retries become first attempts again, a step
-- at a time, and nothing is sent meanwhile.
CREATE TABLE restarts (webhook INTEGER PRIMARY KEY REFERENCES webhooks (id) ON DELETE CASCADE) STRICT;
