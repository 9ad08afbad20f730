/**
 * Proxies in front of the server. Trusted proxies name their clients in `X-Forwarded-For`, and TLS in `X-Forwarded-Proto`. All
 * clients of an untrusted proxy count as one client with the address of the proxy, and the node logs a warning. No other
 * header of this kind has an effect: most proxies pass on what a client wrote.
 */
import type { IncomingHttpHeaders } from "node:http";
import ipaddr from "ipaddr.js";
import type { Logger } from "pino";
import type { RangeTest } from "../../platform/addresses/ranges.ts";
import type { Server } from "../core/app.ts";

const REMEDY = "list the proxies in --http-trust-proxy, and configure them to send X-Forwarded-For";

/**
 * Reduces `X-Forwarded-For` to the addresses that trusted proxies vouch for, before limits count by them. Some proxies append the
 * port of a client, which must not turn each connection into a separate client. Removes what the library would believe:
 * `X-Forwarded-Host` instead of the host of the request, and a protocol that is none. Warns of the first request that an
 * untrusted proxy seems to have forwarded.
 */
export function addForwarded(app: Server, isProxy: RangeTest, logger: Logger): void {
  let isWarned = false;
  app.addHook("onRequest", ({ headers, socket }, _reply, done) => {
    delete headers["x-forwarded-host"];
    if (!PROTOCOL.test(`${headers["x-forwarded-proto"]}`)) delete headers["x-forwarded-proto"];
    const header = headers[FORWARDED_FOR];
    if (header === undefined) return done();
    const { remoteAddress = "" } = socket;
    // The header stays even without an address: it shows that the request came through a proxy.
    headers[FORWARDED_FOR] = forwardedAddresses(header, remoteAddress, isProxy).join(", ");
    if (!isWarned && !isProxy(remoteAddress)) {
      isWarned = true;
      logger.warn(
        { remoteAddress },
        `received X-Forwarded-For from an address that is not a trusted proxy: ${REMEDY}`,
      );
    }
    done();
  });
}

/** The server reads the last entry. */
const PROTOCOL = /(^|,) *https? *$/;
/** Maximum of proxies of one request; a client may write any number of proxy addresses into the header. */
const MAX_PROXIES = 16;
const FORWARDED_FOR = "x-forwarded-for" satisfies keyof IncomingHttpHeaders;

/**
 * Returns the addresses that proxies vouch for, client first: the end of the header, back to the first address that is
 * not a proxy.
 */
function forwardedAddresses(header: string | string[], sender: string, isProxy: RangeTest): string[] {
  const addresses: string[] = [];
  let hop: string | undefined = sender;
  for (const entry of String(header).split(",").reverse()) {
    if (entry.trim() === "") continue;
    if (addresses.length >= MAX_PROXIES || !isProxy(hop)) break;
    hop = parseAddress(entry.trim());
    // An unnamed client counts as the proxy that sent the request.
    if (hop === undefined) break;
    addresses.unshift(hop);
  }
  return addresses;
}

const WITH_PORT = /^(?:\[([\da-f:.]+(?:%\w+)?)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/i;

/** Returns the canonical address without brackets, port and zone; undefined for any other text. */
function parseAddress(text: string): string | undefined {
  const [, inBrackets, plain] = WITH_PORT.exec(text) ?? [];
  if (plain !== undefined) {
    return ipaddr.IPv4.isValidFourPartDecimal(plain) ? ipaddr.IPv4.parse(plain).toString() : undefined;
  }
  const address = (inBrackets ?? text).replace(/%\w+$/, "");
  return ipaddr.IPv6.isValid(address) ? ipaddr.process(address).toString() : undefined;
}

/** Options under their names in the configuration. */
export type Exposure = {
  readonly httpHost: string;
  readonly httpTrustProxy?: string | undefined;
  readonly rateLimit: number;
};

/**
 * Warns of a rate limit that fails behind a proxy, when the server can only be reached through one. A loopback node usually
 * has local clients only, so that a warning is justified once a request with `X-Forwarded-For` arrives.
 */
export function warnOfUnnamedProxy(exposure: Exposure, logger: Logger): void {
  const { httpHost: host, httpTrustProxy, rateLimit } = exposure;
  if (httpTrustProxy !== undefined || rateLimit === 0 || isLoopback(host) || !isPrivate(host)) return;
  logger.warn({ host }, `behind a proxy, --rate-limit would treat all of its clients as one: ${REMEDY}`);
}

const PRIVATE_RANGES: ReadonlySet<string> = new Set(["private", "uniqueLocal", "linkLocal"]);

const rangeOf = (host: string): string | undefined =>
  ipaddr.isValid(host) ? ipaddr.process(host).range() : undefined;
const isLoopback = (host: string): boolean => host === "localhost" || rangeOf(host) === "loopback";
const isPrivate = (host: string): boolean => PRIVATE_RANGES.has(rangeOf(host) ?? "");
