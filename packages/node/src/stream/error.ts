/** A stream cannot be opened. */
export type StreamErrorCode =
  /** The request makes no sense as it is; the message says which part. */
  | "STREAM_INVALID"
  /** What the reader missed is not known any more: it has to take the state anew. */
  | "STREAM_GONE"
  /** The patterns in the conditions of this client cost too much. */
  | "STREAM_SUSPENDED"
  /** This client has as many streams as one may have. */
  | "STREAM_LIMIT"
  /** The node has as many streams as it can serve; later there may be room. */
  | "STREAM_FULL";

export class StreamError extends Error {
  readonly code: StreamErrorCode;
  readonly isRetryable: boolean;

  constructor(code: StreamErrorCode, message: string) {
    super(message);
    this.name = "StreamError";
    this.code = code;
    this.isRetryable = code === "STREAM_LIMIT" || code === "STREAM_FULL";
  }
}
