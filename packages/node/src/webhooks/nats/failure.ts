/** Errors of the NATS library as outcomes of attempts: a code and a sentence for the delivery log. */
import { CodedError } from "../../platform/coded-error.ts";
import { protocolError } from "./server-stream.ts";

/** Code of the server for an expected sequence that is not the last one. */
const WRONG_SEQUENCE = 10_071;

/** The library's errors as far as they are used. The names of its classes are part of its documentation. */
type LibraryError = Error & { readonly code?: unknown; readonly cause?: unknown };

/** Returns whether the server refused a message because the last message of its subject is not the expected one. */
export const isWrongSequence = (error: unknown): boolean =>
  (error as LibraryError).name === "JetStreamApiError" && (error as LibraryError).code === WRONG_SEQUENCE;

/** Returns whether a request failed because its connection ended; the connection knows the cause. */
export function isDisconnection(error: unknown): boolean {
  const { name, cause } = error as LibraryError;
  if (name === "RequestError") return cause === undefined || isDisconnection(cause);
  return name === "ClosedConnectionError";
}

/** Converts an error of the library; returns other errors unchanged. */
export function toFailure(error: unknown, subject: string): unknown {
  const { name, message, code, cause } = error as LibraryError;
  if (typeof code === "string") return error;
  switch (name) {
    case "JetStreamNotEnabled":
    case "StreamNotFoundError":
    case "NoResponders":
      return failure(
        "NATS_NO_STREAM",
        `no stream of the server has the subject ${subject}, or JetStream is disabled`,
      );
    case "JetStreamApiError":
      return isWrongSequence(error)
        ? failure("NATS_WRONG_SEQUENCE", `another publisher uses the subject ${subject}: ${message}`)
        : failure(`NATS_${code}`, `the server refused the message: ${message}`);
    case "AuthorizationError":
    case "UserAuthenticationExpiredError":
      return failure("NATS_AUTHORIZATION", `the server refused the user, password or token: ${message}`);
    case "PermissionViolationError":
      return failure("NATS_PERMISSION", `the user of the target lacks a permission: ${message}`);
    case "ClosedConnectionError":
    case "ConnectionError":
      return failure("NATS_DISCONNECTED", `the connection to the server ended: ${message}`);
    case "InvalidArgumentError":
      return failure("NATS_TOO_LARGE", `the server does not accept messages of this size: ${message}`);
    case "JetStreamError":
    case "ProtocolError":
    case "SyntaxError":
      return protocolError(`unexpected reply of the server: ${message}`);
    case "RequestError":
      return cause === undefined
        ? failure("NATS_DISCONNECTED", `the connection to the server ended: ${message}`)
        : toFailure(cause, subject);
    default:
      return error;
  }
}

const failure = (code: string, message: string) => new CodedError(code, message, { isRetryable: true });
