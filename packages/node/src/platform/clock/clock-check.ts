/**
 * Checks the clock against time servers when the node starts (p2p.md 10.2): a node whose clock is wrong rejects valid blocks as
 * blocks of the future, and forges outside its slots. The result is logged; the start does not wait for it. A query is one
 * datagram each way (SNTP, RFC 4330).
 */
import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import type { Logger } from "pino";
import { CodedError } from "../coded-error.ts";

type ClockCheckDeps = {
  /** Returns the time of this machine, in milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Ends the check early. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
};

/** A forger leaves a margin of two seconds at both ends of its slot: half of it may be clock error. */
export const MAX_OFFSET_MS = 1_000;
const NTP_PORT = 123;
/** Timeout of the name lookup, and of the server's reply. */
const TIMEOUT_MS = 3_000;

/** The name of a server cannot be resolved. */
class NameError extends CodedError<"NAME_UNRESOLVED"> {
  constructor(cause: unknown) {
    super("NAME_UNRESOLVED", (cause as Error).message, { isRetryable: true, cause });
  }
}

/**
 * Compares the clock with the first server that replies, and logs the result.
 *
 * @param servers see `readTimeServer`
 */
export async function checkClock(servers: readonly string[], deps: ClockCheckDeps): Promise<void> {
  const { logger, nowMs, signal } = deps;
  const failures: Error[] = [];
  for (const server of servers) {
    try {
      const offsetMs = await measureOffset(server, { nowMs, signal });
      const level = Math.abs(offsetMs) > MAX_OFFSET_MS ? "warn" : "info";
      return logger[level]({ server, offsetMs }, "clock compared with a time server");
    } catch (error) {
      failures.push(error as Error);
    }
    if (signal.aborted) return;
  }
  if (servers.length === 0) return;
  const reasons = failures.map(({ message }) => message);
  if (failures.every((error) => error instanceof NameError)) {
    logger.warn(
      { servers, reasons },
      "failed to resolve the time servers: check the DNS configuration of this machine",
    );
  } else {
    logger.warn({ servers, reasons }, "clock not checked: no time server responded");
  }
}

/**
 * Returns the milliseconds by which the clock of a server is ahead of the clock of this machine.
 *
 * @param server see `readTimeServer`
 * @throws {Error} when the server is not found, or sends no usable reply within six seconds
 */
export async function measureOffset(
  server: string,
  { nowMs, signal }: Pick<ClockCheckDeps, "nowMs" | "signal">,
): Promise<number> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(2 * TIMEOUT_MS)]);
  return Math.round(await queryOffset(await locate(server, within), { nowMs, signal: within }));
}

/**
 * Parses a time server: a name or an IP address (IPv6 in brackets), with an optional port; the default is that of NTP.
 *
 * @throws {Error} with a message that names the expected format
 */
export function readTimeServer(text: string): { readonly host: string; readonly port: number } {
  const url = `ntp://${text}`;
  const { host, hostname, port } = URL.canParse(url) ? new URL(url) : { host: "", hostname: "", port: "" };
  if (host === "" || host !== text) throw new Error("names or addresses of time servers are expected");
  return { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? NTP_PORT : Number(port) };
}

async function locate(server: string, signal: AbortSignal): Promise<TimeServer> {
  const { host, port } = readTimeServer(server);
  return { address: isIP(host) === 0 ? await resolved(host, signal) : host, port };
}

async function resolved(name: string, signal: AbortSignal): Promise<string> {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const [address] = await resolver.resolve4(name);
    if (address === undefined) throw new Error(`${name} has no IPv4 address`);
    return address;
  } catch (error) {
    throw new NameError(error);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

type TimeServer = {
  /** IP address. */
  readonly address: string;
  readonly port: number;
};

type TimeQuery = {
  /** Returns the time of this machine, in milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Ends the query. */
  readonly signal: AbortSignal;
};

const MESSAGE_BYTES = 48;
/** First byte of a request: no leap second warning, version 4, client mode. */
const CLIENT_HEAD = 0x23;
const SERVER_MODE = 4;
/** Servers of a higher stratum are not synchronised; 0 is a refusal. */
const MAX_STRATUM = 15;
/** Offsets of the timestamps in a message. */
const AT = { originate: 24, receive: 32, transmit: 40 } as const;

/**
 * Resolves to the offset in milliseconds: positive if the server's clock is ahead. Both directions are assumed to be equally
 * fast.
 *
 * @throws {Error} when no usable reply arrives before the signal
 */
function queryOffset({ address, port }: TimeServer, { nowMs, signal }: TimeQuery): Promise<number> {
  const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
  // The server echoes the transmit timestamp. A random one keeps our clock private and proves that the reply
  // is genuine.
  const cookie = randomBytes(8);
  const question = Buffer.alloc(MESSAGE_BYTES);
  question[0] = CLIENT_HEAD;
  cookie.copy(question, AT.transmit);

  return new Promise<number>((resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("timeout")), { once: true });
    socket.on("error", reject);
    let requestedMs = 0;
    socket.on("message", (reply) => {
      const arrivedMs = nowMs();
      if (!isReply(reply, cookie)) return;
      const [receivedMs, sentMs] = [unixMs(reply, AT.receive), unixMs(reply, AT.transmit)];
      resolve((receivedMs - requestedMs + (sentMs - arrivedMs)) / 2);
    });
    // The system drops datagrams of other senders than the connected one.
    // A callback of `connect` would also be called with an error.
    socket.once("connect", () => {
      requestedMs = nowMs();
      socket.send(question);
    });
    socket.connect(port, address);
  }).finally(() => socket.close());
}

function isReply(message: Buffer, cookie: Buffer): boolean {
  if (message.length < MESSAGE_BYTES) return false;
  const [head, stratum] = message as unknown as [number, number];
  const isUsable = (head & 0x07) === SERVER_MODE && stratum > 0 && stratum <= MAX_STRATUM;
  return isUsable && message.subarray(AT.originate, AT.receive).equals(cookie);
}

/** Seconds from 1900 to 1970. */
const SECONDS_TO_1970 = 2_208_988_800;
const FRACTIONS = 2 ** 32;

/** Reads a timestamp: seconds since 1900 and a fraction. The seconds wrap around in 2036, so small values are later. */
function unixMs(message: Buffer, at: number): number {
  const counted = message.readUInt32BE(at);
  const seconds = counted < FRACTIONS / 2 ? counted + FRACTIONS : counted;
  return (seconds - SECONDS_TO_1970 + message.readUInt32BE(at + 4) / FRACTIONS) * 1000;
}
