/**
 * Detects cross-site requests, which a page of another site makes a browser send. They carry the page's `Origin`, or
 * after DNS rebinding the name of the other site as `Host`. Only services without a token need this check: a page does
 * not know the token, and a browser does not add it.
 */
import ipaddr from "ipaddr.js";

export type Sender = {
  /** The `Host` header; empty if absent. */
  readonly host: string;
  /** The `Origin` header. */
  readonly origin: string | undefined;
  /** Local address of the connection. */
  readonly localAddress: string | undefined;
};

/** The reason to refuse a request; undefined for an accepted one. */
export type CrossSiteTest = (sender: Sender) => string | undefined;

const HOST = /^(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?$/i;

/**
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

/** The canonical form of an address, or a name in lower case. */
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
