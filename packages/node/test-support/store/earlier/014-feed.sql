-- Records that each of the last blocks wrote, for mirrors; empty unless the feed is enabled.
CREATE TABLE feed_changes (
  height INTEGER PRIMARY KEY,
  changes TEXT NOT NULL                       -- JSON: rows of table, key and members; no members: removed
) STRICT;
