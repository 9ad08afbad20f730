/** Lists of IP addresses as operators write them: `192.0.2.7, 10.0.0.0/8, 2001:db8::/32`, or `*` for all. */
import ipaddr from "ipaddr.js";

/** Whether an address is on a list. */
export type RangeTest = (address: string) => boolean;

export const EVERYBODY = "*";

/**
 * A test for the addresses of a list. An IPv4 address written as IPv6 is judged as the IPv4 address.
 *
 * @throws {Error} naming the entry that is neither address nor network
 */
export function createRangeTest(list: string): RangeTest {
  const entries = list
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  if (entries.includes(EVERYBODY)) return () => true;
  const ranges = entries.map(parseRange);
  return (text) => {
    // A proxy may have written anything.
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return ranges.some(
      ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
    );
  };
}

function parseRange(entry: string): [network: ipaddr.IPv4 | ipaddr.IPv6, bits: number] {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  if (!ipaddr.isValid(entry))
    throw new Error(`${entry} is neither an address nor a network such as 10.0.0.0/8`);
  const address = ipaddr.process(entry);
  return [address, address.toByteArray().length * 8];
}
