/** Reasons why a stream cannot be opened. */
import { CodedError } from "../platform/coded-error.ts";

type StreamErrorCode =
  /** The request is not valid; the message names the part. */
  | "STREAM_INVALID"
  /** The events that the client missed are no longer available: it must read the state again. */
  | "STREAM_GONE"
  /** The patterns in the conditions of this client cost too much. */
  | "STREAM_SUSPENDED"
  /** This client has its maximum of open streams. */
  | "STREAM_LIMIT"
  /** The node serves its maximum of streams; retry later. */
  | "STREAM_FULL";

export class StreamError extends CodedError<StreamErrorCode> {
  constructor(code: StreamErrorCode, message: string) {
    super(code, message, { isRetryable: code === "STREAM_LIMIT" || code === "STREAM_FULL" });
  }
}
