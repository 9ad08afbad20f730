/** Why the HTTP server or the listener of health and metrics cannot listen. */
import type { ServingData } from "./thread.ts";

/** The message names the address and the option to choose another with. */
export class ListenError extends Error {
  readonly code = "LISTEN_FAILED";
  /** Once another program has given the port back. */
  readonly isRetryable = true;

  constructor(message: string) {
    super(message);
    this.name = "ListenError";
  }
}

type SystemError = Error & { readonly code?: string; readonly port?: number; readonly hostname?: string };

/** The usual reasons for which a port cannot be listened on, with what to do about them. */
export function explainListenError(error: SystemError, data: ServingData): Error {
  const { host, port, flag } = listenerOf(error, data);
  if (error.code === "EADDRINUSE") {
    return new ListenError(
      `port ${port} of ${host} is in use; choose another with ${flag}-port, or 0 for a free one`,
    );
  }
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND") {
    return new ListenError(`${host} is no address of this machine; choose another with ${flag}-host`);
  }
  if (error.code === "EACCES") {
    return new ListenError(
      `port ${port} may not be used by this user; choose one above 1023 with ${flag}-port`,
    );
  }
  return error;
}

function listenerOf({ port, hostname }: SystemError, { operations, ...data }: ServingData) {
  const isOperations = operations && (port === operations.port || hostname === operations.host);
  return isOperations ? { ...operations, flag: "--operations" } : { ...data, flag: "--http" };
}
