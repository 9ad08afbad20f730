/** Refusals of the feed. */
export class FeedError extends Error {
  readonly code: "FEED_FULL" | "FEED_GONE";
  readonly isRetryable: boolean;

  constructor(code: FeedError["code"], message: string) {
    super(message);
    this.name = "FeedError";
    this.code = code;
    this.isRetryable = code === "FEED_FULL";
  }
}
