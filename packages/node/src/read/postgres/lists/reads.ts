/** Parameters that all reads of a snapshot share. */
import type { PostgresValue } from "../../../postgres/connection.ts";
import type { ReadQuery } from "../../../postgres/reads.ts";
import type { Head } from "../../head.ts";
import type { CountCache } from "./count-cache.ts";
import type { OffsetCache } from "./offset-cache.ts";

export type SnapshotReads = {
  readonly head: Head;
  /** Number of transactions up to and including the head. */
  readonly transactions: number;
  readonly query: ReadQuery<PostgresValue>;
  readonly counts: CountCache;
  readonly offsets: OffsetCache;
};

/** Returns the only row of a statement that finds at most one. */
export const first = async <Row>(rows: Promise<Row[]>): Promise<Row | undefined> => (await rows)[0];
