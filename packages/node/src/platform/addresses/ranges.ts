/**
 * Lists of IP addresses as operators write them: `192.0.2.7, 10.0.0.0/8, 2001:db8::/32`, `*` for all, and patterns as the
 * old network has them (http-api.md 1.1), in which `*` stands for any digits and dots, `?` for one digit: `192.168.*`.
 */
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
  const tests = entries.map(entryTest);
  return (text) => {
    // A proxy may have written anything.
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return tests.some((isMeant) => isMeant(address));
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

/** Of IPv4: the other family writes one address in several ways. */
const PATTERN = /^(?=.*[*?])[\d.*?]+$/;

function parseRange(entry: string): [network: Address, bits: number] {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  if (!ipaddr.isValid(entry))
    throw new Error(`${entry} is neither an address nor a network such as 10.0.0.0/8`);
  const address = ipaddr.process(entry);
  return [address, address.toByteArray().length * 8];
}
