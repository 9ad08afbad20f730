/** Parameters that all reads of a snapshot share. */
import type { PostgresValue } from "../../../postgres/connection.ts";
import type { ReadQuery } from "../../../postgres/reads.ts";
import type { Head } from "../../head.ts";
import type { Counts } from "./counts.ts";
import type { Marks } from "./marks.ts";

export type SnapshotReads = {
  readonly head: Head;
  /** Number of transactions up to and including the head. */
  readonly transactions: number;
  readonly query: ReadQuery<PostgresValue>;
  readonly counts: Counts;
  readonly marks: Marks;
};

/** Returns the only row of a statement that finds at most one. */
export const first = async <Row>(rows: Promise<Row[]>): Promise<Row | undefined> => (await rows)[0];
