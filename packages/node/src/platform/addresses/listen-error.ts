/** Explains why a server of this process cannot listen, and which options choose another address. */
import { CodedError } from "../coded-error.ts";

/** Address of a server, and the flags of its options. */
export type ListenAddress = {
  readonly host: string;
  readonly port: number;
  readonly portFlag: string;
  /** If absent, the host cannot be chosen. */
  readonly hostFlag?: string;
  /** Replaces the advice to choose another port, for ports that a whole network has in common. */
  readonly portAdvice?: string;
};

/** The message names the address and the option that chooses another one. */
export class ListenError extends CodedError<"LISTEN_FAILED"> {
  readonly host: string;
  readonly port: number;

  /** Retryable, because another program may free the port. */
  constructor(message: string, { host, port }: ListenAddress, options: ErrorOptions) {
    super("LISTEN_FAILED", message, { isRetryable: true, ...options });
    this.host = host;
    this.port = port;
  }
}

/** Error codes for hosts that no interface of this machine has. */
const NOT_LOCAL = new Set(["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "EINVAL", "EAFNOSUPPORT"]);

/** Returns the error as a `ListenError` if the operator can fix its cause; returns any other error unchanged. */
export function explainListenError(error: Error & { readonly code?: string }, address: ListenAddress): Error {
  const reason = reasonOf(error.code ?? "", address);
  return reason === undefined ? error : new ListenError(reason, address, { cause: error });
}

function reasonOf(code: string, address: ListenAddress): string | undefined {
  const { host, port, portFlag, hostFlag, portAdvice } = address;
  const elsewhere = hostFlag === undefined ? "" : `; choose another with ${hostFlag}`;
  if (code === "EADDRINUSE")
    return `port ${port} of ${host} is in use; ${portAdvice ?? `choose another with ${portFlag}, or 0 for a free one`}`;
  if (code === "EACCES")
    return `port ${port} of ${host} requires more privileges than this user has; choose one above 1023 with ${portFlag}`;
  return NOT_LOCAL.has(code) ? `${host} is not an address of this machine${elsewhere}` : undefined;
}
