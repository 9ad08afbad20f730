/** Failures of the database, as the read model reports them. */
import { PostgresError } from "../../postgres/error.ts";
import { ReadsEndedError } from "../../postgres/reads.ts";
import { SnapshotError } from "../errors.ts";

/** Converts a failure of the database to a `SnapshotError`; returns other errors as they are. */
export function toSnapshotError(error: unknown): unknown {
  if (error instanceof ReadsEndedError) return new SnapshotError("SNAPSHOT_ENDED");
  return error instanceof PostgresError ? new SnapshotError(CODES[error.code], error) : error;
}

const CODES = {
  POSTGRES_TIMEOUT: "SNAPSHOT_TIMEOUT",
  POSTGRES_BUSY: "SNAPSHOT_BUSY",
  POSTGRES_UNREACHABLE: "SNAPSHOT_UNREACHABLE",
} as const satisfies Record<PostgresError["code"], SnapshotError["code"]>;
