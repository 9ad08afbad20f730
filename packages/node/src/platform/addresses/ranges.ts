/**
 * Ranges of IP addresses. Lists in options: `192.0.2.7, 10.0.0.0/8, 2001:db8::/32`, `*` for all, and the patterns of the old
 * node (http-api.md 1.1), in which `*` matches any digits and dots, and `?` one digit: `192.168.*`. Groups that limits count as
 * one client: a single IPv6 customer has at least a /64 and often a /48, so limits on single IPv6 addresses have no effect.
 */
import ipaddr from "ipaddr.js";

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
