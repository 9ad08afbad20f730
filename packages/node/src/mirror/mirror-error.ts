/** Failures of a mirror. */
import { CodedError } from "../platform/coded-error.ts";

export type MirrorErrorCode =
  /** The node cannot be reached, or ended a response early. */
  | "MIRROR_NODE_UNREACHABLE"
  /** The node refuses the token or the address, or has no feed. */
  | "MIRROR_REFUSED"
  /** A line is damaged, or contradicts the previous line. */
  | "MIRROR_FEED_INVALID"
  /** The node has switched to another branch while the mirror was built. */
  | "MIRROR_BRANCH_LEFT"
  /**
   * The feed no longer reaches the mirror's block, or the mirror cannot return to the node's branch: it must be built
   * again.
   */
  | "MIRROR_GONE"
  /** The log of the node does not have the event after the last copied one. */
  | "MIRROR_EVENTS_GONE"
  /** The database has the chain of another network, or another chain than the node. */
  | "MIRROR_DATABASE"
  /** Another mirror has taken over. */
  | "MIRROR_DEPOSED"
  /** Another mirror with the same name has taken over. */
  | "MIRROR_REPLACED"
  /** The mirror or the node does not have the block with which the other one is compared yet. */
  | "MIRROR_BEHIND"
  /** Rows or facts differ from those of the node, or a row is damaged. */
  | "MIRROR_DIFFERS";

const RETRYABLE: readonly MirrorErrorCode[] = [
  "MIRROR_NODE_UNREACHABLE",
  "MIRROR_FEED_INVALID",
  "MIRROR_BEHIND",
];

export class MirrorError extends CodedError<MirrorErrorCode> {
  constructor(code: MirrorErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, { isRetryable: RETRYABLE.includes(code), ...options });
  }
}
