-- Events that live streams want: the log has each of them behind a sequence without a gap.
CREATE TABLE wanted (name TEXT PRIMARY KEY, since INTEGER NOT NULL) STRICT, WITHOUT ROWID;
