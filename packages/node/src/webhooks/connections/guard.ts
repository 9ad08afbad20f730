/**
 * Keeps deliveries away from the operator's own network (webhooks.md 10 point 7), and opens the connections to targets.
 * Every address is checked when the connection is opened, and only checked addresses are connected to: a name that
 * changes its address after registration, or between check and use, cannot evade the check.
 */

import { constants } from "node:crypto";
import { isIP, type LookupFunction, connect as openTcp, type Socket } from "node:net";
import { type ConnectionOptions, connect as openTls, type TLSSocket } from "node:tls";
import ipaddr from "ipaddr.js";
import { createRangeTest } from "../../platform/addresses.ts";
import { setNewest } from "../../platform/bounded-entries.ts";
import { CodedError } from "../../platform/coded-error.ts";
import { type Lookup, Names, type Resolved } from "./names.ts";

/** Targets that deliveries may reach. Networks are lists of addresses and networks (`platform/addresses.ts`). */
export type TargetOptions = {
  /** Allows loopback and private addresses. */
  readonly allowPrivateTargets: boolean;
  /** Networks that are always allowed, unless they are also denied. */
  readonly allowedNetworks: string;
  /** Networks that are always denied, even if they are also allowed. */
  readonly deniedNetworks: string;
};

export const PUBLIC_TARGETS: TargetOptions = {
  allowPrivateTargets: false,
  allowedNetworks: "",
  deniedNetworks: "",
};

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The part of IPv6 that is assigned for use on the internet. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");
/** Prefix of addresses that are translated to the IPv4 address in their last four bytes (RFC 6052). */
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");
const LOCAL_NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b:1::/48");
/**
 * Metadata services of clouds, which give secrets to their machines: refused even if private targets are allowed. The
 * service of Azure has a public address.
 */
const METADATA =
  "169.254.169.254, 169.254.170.0/24, 168.63.129.16, 100.100.100.200, 192.0.0.192, fd00:ec2::/32, fd20:ce::254";

/** Deliveries must not reach the target. A retry may succeed if the name gets another address. */
const refusedAddress = (address: string) =>
  new CodedError("TARGET_REFUSED", `target address ${address} is not public or not allowed`, {
    isRetryable: true,
  });

/**
 * Creates a test whether deliveries may go to an address. It checks `::ffff:10.0.0.1` and `64:ff9b::10.0.0.1` as
 * `10.0.0.1`, to which they are translated.
 *
 * @throws {Error} naming an entry of a list that is neither address nor network
 */
export function createAddressCheck({
  allowPrivateTargets,
  allowedNetworks,
  deniedNetworks,
}: TargetOptions): (address: string) => boolean {
  const isDenied = createRangeTest(deniedNetworks);
  const isAllowed = createRangeTest(allowedNetworks);
  const isMetadata = createRangeTest(METADATA);
  return (given) => {
    if (!ipaddr.isValid(given)) return false;
    const address = destinationOf(ipaddr.parse(given));
    const destination = (translatedOf(address) ?? address).toString();
    if (isDenied(given) || isDenied(destination)) return false;
    if (isAllowed(given) || isAllowed(destination)) return true;
    return !isMetadata(destination) && (allowPrivateTargets || isPublic(address));
  };
}

/** Returns the IPv4 address to which packets for an IPv6 address are forwarded, otherwise the address itself. */
function destinationOf(address: Address): Address {
  if (address instanceof ipaddr.IPv4) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  return address.match(NAT64) ? new ipaddr.IPv4(address.toByteArray().slice(-4)) : address;
}

/**
 * Returns the IPv4 address to which a private network may forward packets (RFC 8215, 6145, 3056). None of these is public,
 * but if private targets are allowed, they must not reach denied networks.
 */
function translatedOf(address: Address): Address | undefined {
  if (address instanceof ipaddr.IPv4) return undefined;
  const bytes = address.toByteArray();
  if (address.match(LOCAL_NAT64) || address.range() === "rfc6145") return new ipaddr.IPv4(bytes.slice(-4));
  return address.range() === "6to4" ? new ipaddr.IPv4(bytes.slice(2, 6)) : undefined;
}

/**
 * Returns whether an address is public. The library reports some private addresses, such as `::7f00:1`, as ordinary
 * unicast.
 */
function isPublic(address: Address): boolean {
  return address.range() === "unicast" && (address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST));
}

export type ConnectOptions = TargetOptions & {
  /** Timeout for the lookup of the name, the connection and the TLS handshake together. */
  readonly connectTimeoutMs: number;
};

export type Endpoint = {
  /** Name or address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
};

/** Maximum of TLS sessions to resume, one for each host: it halves the CPU time of a handshake. */
const MAX_SESSIONS = 1_000;
/** Maximum of sessions that a target may send on a connection; servers send two. */
const MAX_SENT_SESSIONS = 16;

/** Opens connections to checked addresses. */
export class Connector {
  readonly #timeoutMs: number;
  readonly #isAllowed: (address: string) => boolean;
  readonly #lookup: Lookup;
  readonly #sessions = new Map<string, Buffer>();

  /** @throws {Error} naming an entry of a list that is neither address nor network */
  constructor(options: ConnectOptions, lookup: Lookup = new Names().lookup) {
    this.#timeoutMs = options.connectTimeoutMs;
    this.#isAllowed = createAddressCheck(options);
    this.#lookup = lookup;
  }

  /**
   * Connects to a checked address.
   *
   * @param signal ends the attempt until the promise settles
   * @throws {CodedError} TARGET_REFUSED, CONNECT_TIMEOUT, an error of the lookup, or of the system
   */
  connect(endpoint: Endpoint, signal: AbortSignal): Promise<Socket> {
    return new Promise((resolve, reject) => {
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
      const timeout = setTimeout(() => fail(connectTimeout(this.#timeoutMs)), this.#timeoutMs);
      if (signal.aborted) return abort();
      signal.addEventListener("abort", abort, { once: true });
      this.#resolve(endpoint.host).then((addresses) => {
        if (isSettled) return;
        const opened = this.#open(endpoint, addresses);
        socket = opened.on("error", fail).once(endpoint.isSecure ? "secureConnect" : "connect", () => {
          settle();
          resolve(opened);
        });
      }, fail);
    });
  }

  /** Refuses a name if one of its addresses is refused: legitimate names have no such address. */
  async #resolve(host: string): Promise<readonly Resolved[]> {
    const addresses = isIP(host) === 0 ? await this.#lookup(host) : [{ address: host, family: isIP(host) }];
    const refused = addresses.find(({ address }) => !this.#isAllowed(address));
    if (refused) throw refusedAddress(refused.address);
    if (addresses.length === 0) throw new Error(`${host} has no address`);
    return addresses;
  }

  /** Begins to connect to one of the addresses, under the name of the target. */
  #open({ host, port, isSecure }: Endpoint, addresses: readonly Resolved[]): Socket {
    const [first] = addresses;
    const lookup: LookupFunction = (_host, { all }, callback) => {
      if (all) callback(null, [...addresses]);
      else callback(null, first?.address ?? "", first?.family);
    };
    const common = { host, port, lookup, noDelay: true };
    if (!isSecure) return openTcp(common);
    const key = `${host}:${port}`;
    const session = this.#sessions.get(key);
    return openEncrypted(
      {
        ...common,
        ...(isIP(host) === 0 && { servername: host }),
        ...(session && { session }),
        ALPNProtocols: ["http/1.1"],
      },
      (sent) => setNewest(this.#sessions, key, sent, MAX_SESSIONS),
    );
  }
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
