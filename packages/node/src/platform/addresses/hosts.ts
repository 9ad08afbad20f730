/**
 * Requests that a page of another site makes a browser send: they carry the page's `Origin`; or, where the site had its
 * name resolve to this machine (DNS rebinding), that name as `Host`. Only services that ask for no token need to look:
 * a page does not know the token, and a browser adds none by itself.
 */
import ipaddr from "ipaddr.js";

export type Sender = {
  /** Header; empty where there is none. */
  readonly host: string;
  /** Header; absent where there is none. */
  readonly origin: string | undefined;
  /** Address of this machine at which the request arrived. */
  readonly localAddress: string | undefined;
};

/** Why a request is refused; undefined for one that is not. */
export type CrossSiteTest = (sender: Sender) => string | undefined;

const HOST = /^(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?$/i;

/**
 * @param names of this machine beside `localhost`, loopback addresses and the address at which a request arrives
 * @param option that lists further ones, for those who read the reason
 */
export function createCrossSiteTest(names: readonly string[], option: string): CrossSiteTest {
  const known = new Set(["localhost", ...names.map(normal)]);

  return ({ host, origin, localAddress }) => {
    const name = normal(HOST.exec(host)?.[1] ?? "");
    const isKnown = known.has(name) || isLoopback(name) || name === normal(localAddress ?? "");
    if (name === "" || !isKnown) return `the Host header is no name of this machine that ${option} lists`;
    if (origin === undefined || URL.parse(origin)?.host === host.toLowerCase()) return undefined;
    return "pages of other origins are refused";
  };
}

/** Each address in one form, and names in lower case. */
function normal(host: string): string {
  const text = host.replace(/^\[|\]$/g, "").toLowerCase();
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : text;
}

const isLoopback = (name: string): boolean =>
  ipaddr.isValid(name) && ipaddr.process(name).range() === "loopback";
