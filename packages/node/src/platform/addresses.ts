/**
 * IP addresses. Ranges: lists in options are `192.0.2.7, 10.0.0.0/8, 2001:db8::/32`, `*` for all, and the patterns of
 * the old node (http-api.md 1.1), in which `*` matches any digits and dots, and `?` one digit: `192.168.*`. Groups that
 * limits count as one client: a single IPv6 customer has at least a /64 and often a /48, so limits on single IPv6
 * addresses have no effect. Addresses that servers of this process listen on: how they are shown, why a server cannot
 * listen, and which requests are cross-site.
 */
import ipaddr from "ipaddr.js";
import { CodedError } from "./coded-error.ts";

/** Returns true if an address is on a list. */
export type RangeTest = (address: string) => boolean;

/** The entry that matches every address. */
const ANY_ADDRESS = "*";

/**
 * Creates a test for the addresses of a list. An IPv4-mapped IPv6 address is tested as the IPv4 address.
 *
 * @throws {Error} that names the entry which is neither an address nor a network
 */
export function createRangeTest(list: string): RangeTest {
  const entries = list
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  if (entries.includes(ANY_ADDRESS)) return () => true;
  const tests = entries.map(entryTest);
  return (text) => {
    // The text may come from a proxy's header and hold anything.
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return tests.some((matches) => matches(address));
  };
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

function entryTest(entry: string): (address: Address) => boolean {
  if (PATTERN.test(entry)) {
    const pattern = new RegExp(
      `^${entry.replaceAll(".", "\\.").replaceAll("?", "\\d").replaceAll("*", "[\\d.]*")}$`,
    );
    return (address) => pattern.test(address.toString());
  }
  const [network, bits] = parseRange(entry);
  return (address) => network.kind() === address.kind() && address.match(network, bits);
}

/** Patterns match IPv4 only: one IPv6 address has several text forms. */
const PATTERN = /^(?=.*[*?])[\d.*?]+$/;

function parseRange(entry: string): [network: Address, bits: number] {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  if (!ipaddr.isValid(entry))
    throw new Error(`${entry} is neither an address nor a network such as 10.0.0.0/8`);
  const address = ipaddr.process(entry);
  return [address, address.toByteArray().length * 8];
}

const CLIENT_BITS = 64;
const SITE_BITS = 48;

/** Returns the client of an address: the address itself (IPv4) or its /64 (IPv6). Other texts are returned unchanged. */
export const clientGroup = (address: string): string => prefixGroup(address, CLIENT_BITS);

/** Returns the site of an address: the address itself (IPv4) or its /48 (IPv6). Other texts are returned unchanged. */
export const siteGroup = (address: string): string => prefixGroup(address, SITE_BITS);

function prefixGroup(address: string, bits: number): string {
  // Fast path: almost every address is IPv4.
  if (!address.includes(":") || !ipaddr.isValid(address)) return address;
  // An IPv4-mapped IPv6 address counts as the IPv4 address; a zone ("%eth0") is ignored.
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const parts = parsed.parts.map((part, index) => (index < bits / 16 ? part : 0));
  return `${new ipaddr.IPv6(parts).toString()}/${bits}`;
}

type Sender = {
  /** The `Host` header; empty if absent. */
  readonly host: string;
  /** The `Origin` header. */
  readonly origin: string | undefined;
  /** Local address of the connection. */
  readonly localAddress: string | undefined;
};

/** Returns the reason to refuse a request; undefined for an accepted one. */
type CrossSiteTest = (sender: Sender) => string | undefined;

const HOST = /^(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?$/i;

/**
 * Creates a test that detects cross-site requests, which a page of another site makes a browser send. They carry the page's
 * `Origin`, or after DNS rebinding the name of the other site as `Host`. Only services without a token need this test: a page
 * does not know the token, and a browser does not add it.
 *
 * @param names of this machine, in addition to `localhost`, loopback addresses and the local address of the connection
 * @param option flag that lists these names, for the text of the reason
 */
export function createCrossSiteTest(names: readonly string[], option: string): CrossSiteTest {
  const known = new Set(["localhost", ...names.map(normal)]);

  return ({ host, origin, localAddress }) => {
    const name = normal(HOST.exec(host)?.[1] ?? "");
    const isKnown = known.has(name) || isLoopback(name) || name === normal(localAddress ?? "");
    if (name === "" || !isKnown)
      return `the Host header is not a name of this machine; add further names with ${option}`;
    if (origin === undefined || URL.parse(origin)?.host === host.toLowerCase()) return undefined;
    return "requests from other origins are refused";
  };
}

/** Returns the canonical form of an address, or a name in lower case. */
function normal(host: string): string {
  const text = host.replace(/^\[|\]$/g, "").toLowerCase();
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : text;
}

const isLoopback = (name: string): boolean =>
  ipaddr.isValid(name) && ipaddr.process(name).range() === "loopback";

/** Formats a host for a URL: IPv6 needs brackets, and a wildcard address cannot be opened. */
export function shownHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

/** Address of a server, and the flags of its options. */
export type ListenAddress = {
  readonly host: string;
  readonly port: number;
  readonly portFlag: string;
  /** Absent: the host cannot be chosen. */
  readonly hostFlag?: string;
  /** Replaces the advice to choose another port, for ports that a whole network has in common. */
  readonly portAdvice?: string;
};

/** A server cannot listen. The message names the address and the option that chooses another one. */
export class ListenError extends CodedError<"LISTEN_FAILED"> {
  readonly host: string;
  readonly port: number;

  /** The error is retryable, because another program may free the port. */
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
