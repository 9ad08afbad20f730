/** Addresses of peers (p2p.md 6.1, 10.3). */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * The one form in which an address is compared with others: an IPv4 address written as IPv6, which is how it arrives
 * where both are listened to, becomes IPv4 (p2p.md 17, 7). Other texts stay as they are.
 */
export const plainAddress = (text: string): string =>
  isIP(text) === 0 ? text : ipaddr.process(text).toString();

/**
 * The one form under which a peer is known: an IPv4 address written as IPv6 becomes IPv4. Undefined if it cannot be
 * a peer: no address, a loopback one, one of network 0, or one of this host.
 *
 * @param own addresses of the node's interfaces, in the same form
 * @param takesLoopback whether loopback addresses may be peers: several nodes share a machine
 */
export function peerAddress(
  text: string,
  own: ReadonlySet<string> = new Set(),
  takesLoopback = false,
): string | undefined {
  if (isIP(text) === 0 || text.includes("%")) return undefined;
  const address = ipaddr.process(text);
  const normal = address.toString();
  const isLoopback = address.range() === "loopback";
  const isUsable = (takesLoopback || !isLoopback) && !normal.startsWith("0") && !own.has(normal);
  return isUsable ? normal : undefined;
}

/**
 * The group of addresses that limits per subnet count together: the /24 of IPv4. Of IPv6 only the last four bytes
 * count, so that most native addresses are one group.
 */
export function subnetOf(text: string): string {
  const address = ipaddr.parse(text);
  const bytes = address.toByteArray();
  const [a = 0, b = 0, c = 0] = bytes.slice(-4);
  if (address.kind() === "ipv4") return `${a}.${b}.${c}.0`;
  return new ipaddr.IPv6([a, b, c, ...Array<number>(13).fill(0)]).toString();
}
