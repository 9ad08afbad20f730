/**
 * A look at the clock when the node starts (p2p.md 10.2): a node whose clock is wrong takes right blocks for those of
 * the future, and forges outside of its slots. It tells in the log, and holds up nothing.
 */
import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import type { Logger } from "pino";
import { askTime, type TimeServer } from "./sntp.ts";

export type ClockCheckDeps = {
  /** Milliseconds since 1970, as this machine has it. */
  readonly nowMs: () => number;
  /** Ends the check early. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
};

/** A forger leaves two seconds of its slot at both ends: a clock that is wrong by half of that still does. */
export const MAX_OFFSET_MS = 1_000;
const NTP_PORT = 123;
/** For a name, and again for the answer of its server. */
const TIMEOUT_MS = 3_000;

/** A server's name has no address. */
class NameError extends Error {
  readonly isRetryable = true;
}

/**
 * Compares the clock with the first of the servers that answers, and says what it found.
 *
 * @param servers see `readTimeServer`
 */
export async function checkClock(servers: readonly string[], deps: ClockCheckDeps): Promise<void> {
  const { logger, nowMs, signal } = deps;
  const failures: Error[] = [];
  for (const server of servers) {
    const within = AbortSignal.any([signal, AbortSignal.timeout(2 * TIMEOUT_MS)]);
    try {
      const offsetMs = Math.round(await askTime(await locate(server, within), { nowMs, signal: within }));
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
    logger.warn({ servers, reasons }, "names cannot be resolved: look at the DNS servers of this machine");
  } else {
    logger.warn({ servers, reasons }, "no time server answers: nobody knows whether the clock is right");
  }
}

/**
 * Where a time server is: a name or an IP address (IPv6 in brackets), with a port behind it or that of NTP.
 *
 * @throws {Error} saying what is expected
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
    return address!;
  } catch (error) {
    throw new NameError((error as Error).message);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
