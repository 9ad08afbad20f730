-- Totals of the state, maintained instead of counted: the time of a request for them must not grow with the state.
CREATE TABLE state_totals (
  name TEXT PRIMARY KEY,                      -- store/state/totals.ts
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
