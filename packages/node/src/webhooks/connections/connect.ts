/** Opens connections to targets, through the guard. */

import { constants } from "node:crypto";
import { isIP, type LookupFunction, connect as openTcp, type Socket } from "node:net";
import { type ConnectionOptions, connect as openTls, type TLSSocket } from "node:tls";
import { CodedError } from "../../platform/coded-error.ts";
import { createAddressCheck, refusedAddress, type TargetOptions } from "./guard.ts";
import { type Lookup, Names, type Resolved } from "./names.ts";

export type ConnectOptions = TargetOptions & {
  /** Timeout for the lookup of the name, the connection and the TLS handshake together. */
  readonly connectTimeoutMs: number;
};

export type Endpoint = {
  /** Name or address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** True for TLS. */
  readonly isSecure: boolean;
};

/**
 * Connects to a checked address.
 *
 * @param signal ends the attempt until the promise settles
 * @throws {CodedError} TARGET_REFUSED, CONNECT_TIMEOUT, an error of the lookup, or of the system
 */
export type Connect = (endpoint: Endpoint, signal: AbortSignal) => Promise<Socket>;

/** Maximum of TLS sessions to resume, one for each host: it halves the CPU time of a handshake. */
const MAX_SESSIONS = 1_000;
/** Maximum of sessions that a target may send on a connection; servers send two. */
const MAX_SENT_SESSIONS = 16;

/** @throws {Error} naming an entry of a list that is neither address nor network */
export function createConnect(options: ConnectOptions, lookup: Lookup = new Names().lookup): Connect {
  const { connectTimeoutMs } = options;
  const check = createAddressCheck(options);
  const open = createOpen();

  /** Refuses a name if one of its addresses is refused: legitimate names have no such address. */
  async function resolveChecked(host: string): Promise<readonly Resolved[]> {
    const addresses = isIP(host) === 0 ? await lookup(host) : [{ address: host, family: isIP(host) }];
    const refused = addresses.find(({ address }) => !check(address));
    if (refused) throw refusedAddress(refused.address);
    if (addresses.length === 0) throw new Error(`${host} has no address`);
    return addresses;
  }

  return (endpoint, signal) =>
    new Promise((resolve, reject) => {
      let socket: Socket | undefined;
      let isSettled = false;
      function settle(): void {
        isSettled = true;
        clearTimeout(timeout);
        signal.removeEventListener("abort", abort);
        socket?.off("error", fail);
      }
      function fail(error: unknown): void {
        if (isSettled) return;
        settle();
        socket?.on("error", () => {}).destroy();
        reject(error);
      }
      const abort = () => fail(signal.reason);
      const timeout = setTimeout(() => fail(connectTimeout(connectTimeoutMs)), connectTimeoutMs);
      if (signal.aborted) return abort();
      signal.addEventListener("abort", abort, { once: true });
      resolveChecked(endpoint.host).then((addresses) => {
        if (isSettled) return;
        const opened = open(endpoint, addresses);
        socket = opened.on("error", fail).once(endpoint.isSecure ? "secureConnect" : "connect", () => {
          settle();
          resolve(opened);
        });
      }, fail);
    });
}

/** Creates a function that begins to connect to one of the addresses, under the name of the target. */
function createOpen(): (endpoint: Endpoint, addresses: readonly Resolved[]) => Socket {
  const sessions = new Map<string, Buffer>();

  function keepSession(key: string, session: Buffer): void {
    sessions.delete(key);
    sessions.set(key, session);
    const [oldest] = sessions.keys();
    if (oldest !== undefined && sessions.size > MAX_SESSIONS) sessions.delete(oldest);
  }

  return ({ host, port, isSecure }, addresses) => {
    const [first] = addresses;
    const lookup: LookupFunction = (_host, { all }, callback) => {
      if (all) callback(null, [...addresses]);
      else callback(null, first?.address ?? "", first?.family);
    };
    const common = { host, port, lookup, noDelay: true };
    if (!isSecure) return openTcp(common);
    const key = `${host}:${port}`;
    const session = sessions.get(key);
    return openEncrypted(
      {
        ...common,
        ...(isIP(host) === 0 && { servername: host }),
        ...(session && { session }),
        ALPNProtocols: ["http/1.1"],
      },
      (sent) => keepSession(key, sent),
    );
  };
}

/** Begins an encrypted connection, with a bound on messages of TLS that follow the handshake and are not data. */
export function openEncrypted(options: ConnectionOptions, onSession: (session: Buffer) => void): TLSSocket {
  const socket = openTls({ ...options, secureOptions: constants.SSL_OP_NO_RENEGOTIATION });
  let sent = 0;
  return socket.on("session", (session) => {
    if (++sent <= MAX_SENT_SESSIONS) onSession(session);
    else socket.destroy(tooManySessions());
  });
}

const tooManySessions = () =>
  new CodedError("RESPONSE_TOO_LARGE", `the target sent more than ${MAX_SENT_SESSIONS} TLS sessions`, {
    isRetryable: true,
  });

const connectTimeout = (timeoutMs: number) =>
  new CodedError("CONNECT_TIMEOUT", `no connection within ${timeoutMs} ms`, { isRetryable: true });
