-- Facts wait for the number of confirmations that their webhook requires now, which is not known when they are stored.
DROP INDEX held_due;
ALTER TABLE held DROP COLUMN due_height;
