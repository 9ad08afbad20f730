/** Refusals of the feed. */
import { CodedError } from "../platform/coded-error.ts";

export type FeedErrorCode =
  /** The node serves its maximum of responses; retry later. */
  | "FEED_FULL"
  /**
   * The changes after the mirror's blocks are not stored: the mirror must be built again. Or the events after its last one are
   * not in the log: it must continue with the oldest event.
   */
  | "FEED_GONE";

export class FeedError extends CodedError<FeedErrorCode> {
  constructor(code: FeedErrorCode, message: string) {
    super(code, message, { isRetryable: code === "FEED_FULL" });
  }
}
