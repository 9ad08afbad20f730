/** Addresses of peers (p2p.md 6.1, 10.3). */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { clientGroup, siteGroup } from "../platform/addresses.ts";

/**
 * The form in which addresses are compared: an IPv4 address mapped into IPv6, as a dual-stack listener reports it,
 * becomes IPv4 (p2p.md 17 point 7), and a zone is dropped. Other texts stay as they are.
 */
export const normalizeAddress = (text: string): string =>
  // Zones such as "br-lan" are valid for the runtime, and an error of the parser.
  isIP(text) === 0 ? text : ipaddr.process(text.replace(/%.*/, "")).toString();

/**
 * The normalized address under which a peer is stored. Undefined if it cannot be a peer: no address, a loopback
 * address, one of network 0, or one of this host.
 *
 * @param own normalized addresses of the node's interfaces
 * @param allowsLoopback whether loopback addresses may be peers, for several nodes on one machine
 */
export function peerAddress(
  text: string,
  own: ReadonlySet<string> = new Set(),
  allowsLoopback = false,
): string | undefined {
  if (isIP(text) === 0 || text.includes("%")) return undefined;
  const address = ipaddr.process(text);
  const normal = address.toString();
  const isLoopback = address.range() === "loopback";
  const isUsable = (allowsLoopback || !isLoopback) && !normal.startsWith("0") && !own.has(normal);
  return isUsable ? normal : undefined;
}

/**
 * The subnet of an address by the rule of the old network (p2p.md 6.1): the /24 of IPv4. For IPv6 the rule reads only
 * the last four bytes, which bounds nothing: see `addressGroupsOf`.
 */
export function subnetOf(text: string): string {
  const address = ipaddr.parse(text);
  const bytes = address.toByteArray();
  const [a = 0, b = 0, c = 0] = bytes.slice(-4);
  if (address.kind() === "ipv4") return `${a}.${b}.${c}.0`;
  return new ipaddr.IPv6([a, b, c, ...Array<number>(13).fill(0)]).toString();
}

/** A group of addresses, and the maximum that is counted for it. */
export type AddressGroup = { readonly key: string; readonly max: number };

/** A /48 is a site with several networks: its maximum is this many times that of one network. */
const NETWORKS_PER_SITE = 2;

/**
 * The groups whose members are counted together, largest first: the /24 of an IPv4 address; the /48 and the /64 of
 * an IPv6 address.
 *
 * @param address normalized
 * @param perSubnet maximum for a /24 or a /64
 */
export const addressGroupsOf = (address: string, perSubnet: number): readonly AddressGroup[] =>
  isIP(address) === 4
    ? [{ key: `${subnetOf(address)}/24`, max: perSubnet }]
    : [
        { key: siteGroup(address), max: NETWORKS_PER_SITE * perSubnet },
        { key: clientGroup(address), max: perSubnet },
      ];

/** The address block that is usually one provider's: the /16 of IPv4, the /32 of IPv6. */
export function regionOf(address: string): string {
  const [first = 0, second = 0, third = 0, fourth = 0] = ipaddr.parse(address).toByteArray();
  return isIP(address) === 4
    ? `${first}.${second}.0.0/16`
    : `${new ipaddr.IPv6([first, second, third, fourth, ...Array<number>(12).fill(0)]).toString()}/32`;
}

/**
 * Returns true if an address, in any form, matches one of the patterns of an option: complete addresses, or texts in which
 * `*` matches any part.
 */
export function matchesAddress(patterns: readonly string[]): (address: string) => boolean {
  const expressions = patterns.map(normalizeAddress).map(
    (pattern) =>
      new RegExp(
        `^${pattern
          .split("*")
          .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
          .join(".*")}$`,
      ),
  );
  return (address) =>
    notationsOf(normalizeAddress(address)).some((form) =>
      expressions.some((expression) => expression.test(form)),
    );
}

const MAPPED = "::ffff:";

/** A pattern may name IPv4 addresses as they are, or mapped into IPv6 as old nodes report them. */
const notationsOf = (address: string): string[] =>
  address.includes(":") ? [address] : [address, `${MAPPED}${address}`];
