/**
 * Groups of addresses that bounds count as one client. A single IPv6 customer holds at least a /64 and often a /48, so
 * that counting single addresses bounds nothing there; an IPv4 address is counted by itself.
 */
import ipaddr from "ipaddr.js";

const CLIENT_BITS = 64;
const SITE_BITS = 48;

/** The client an address belongs to: the address itself (IPv4), or the /64 (IPv6). Other texts stay as they are. */
export const clientGroup = (address: string): string => groupOf(address, CLIENT_BITS);

/** The site an address belongs to: the address itself (IPv4), or the /48 (IPv6). Other texts stay as they are. */
export const siteGroup = (address: string): string => groupOf(address, SITE_BITS);

function groupOf(address: string, bits: number): string {
  // Almost every address is IPv4, and needs no parsing.
  if (!address.includes(":") || !ipaddr.isValid(address)) return address;
  // An IPv4 address written as IPv6 is the IPv4 address; a zone ("%eth0") says nothing about the network.
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const parts = parsed.parts.map((part, index) => (index < bits / 16 ? part : 0));
  return `${new ipaddr.IPv6(parts).toString()}/${bits}`;
}
