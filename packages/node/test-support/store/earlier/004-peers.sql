-- Peers that were seen and verified, so that a node that starts again need not begin with the seeds; and those that
-- are not to be talked to for a while.
CREATE TABLE peers (
  ip TEXT PRIMARY KEY,
  seen_ms INTEGER NOT NULL                    -- milliseconds since 1970
) STRICT, WITHOUT ROWID;

CREATE TABLE bans (
  ip TEXT PRIMARY KEY,
  until_ms INTEGER NOT NULL,                  -- milliseconds since 1970
  reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;
