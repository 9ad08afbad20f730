/** Steps of an audit at which the responses of a node can be false, or not sufficient. */
export type AuditStep =
  /** The checkpoint is malformed, or too few of the keys have signed it. */
  | "CHECKPOINT"
  /** The checkpoint does not contain the last block yet. */
  | "HEIGHT"
  /** The leaves do not lead to the root of the checkpoint. */
  | "LEAVES"
  /** The content of a fact is not the one of its leaf, or is missing. */
  | "CONTENT";
