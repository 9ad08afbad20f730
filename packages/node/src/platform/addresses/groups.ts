/**
 * Groups of addresses that limits count as one client. A single IPv6 customer has at least a /64 and often a /48, so
 * limits on single IPv6 addresses have no effect; an IPv4 address is a group of its own.
 */
import ipaddr from "ipaddr.js";

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
