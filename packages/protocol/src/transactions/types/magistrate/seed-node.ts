/** Addresses that may be seed nodes of a bridgechain (transactions.md 8.3). */

/**
 * Returns true if a text is an IPv4 or IPv6 literal that is not loopback and whose IPv4 form does not start
 * with zero. Private ranges pass.
 */
export function isSeedNode(text: string): boolean {
  const octets = text.includes(":") ? undefined : parseIpv4(text);
  if (octets) return isForeignIpv4(octets);
  const groups = parseIpv6(text);
  if (!groups) return false;
  if (groups.slice(0, 5).some((group) => group !== 0)) return true;
  const [sixth = 0, high = 0, low = 0] = groups.slice(5);
  // An IPv4 address in the form ::ffff:a.b.c.d is checked as IPv4.
  if (sixth === 0xffff) return isForeignIpv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
  return sixth !== 0 || high !== 0 || low !== 1;
}

const isForeignIpv4 = ([first]: readonly number[]) => first !== 127 && first !== 0;

const IPV4_PART = /^(?:0x[0-9a-f]+|\d+)$/i;

/** Four octets; one part is all 32 bits. Trap A27: parts are decimal, hexadecimal with prefix `0x`, octal with any other 0 in front. */
function parseIpv4(text: string): number[] | undefined {
  const parts = text.split(".");
  if (!parts.every((part) => IPV4_PART.test(part))) return undefined;
  const numbers = parts.map((part) => Number.parseInt(part, /^0(?!x)/.test(part) ? 8 : undefined));
  const [first = 0] = numbers;
  if (numbers.length === 1 && first <= 0xffffffff) {
    return [first >>> 24, (first >>> 16) & 0xff, (first >>> 8) & 0xff, first & 0xff];
  }
  return areOctets(numbers) ? numbers : undefined;
}

const areOctets = (numbers: readonly number[]) =>
  numbers.length === 4 && numbers.every((octet) => octet <= 255);

/** Eight groups of 16 bits. The last two may be written as an IPv4 address; a zone may follow. */
function parseIpv6(text: string): number[] | undefined {
  const address = text.replace(/%[0-9a-z]+$/i, "");
  if (address.includes(":::")) return undefined;
  const last = address.slice(address.lastIndexOf(":") + 1);
  if (!last.includes(".")) return groupsOf(address, 8);
  // Trap A27: these parts are never octal, and one colon before them is cut, also that of a gap.
  const parts = last.split(".");
  const octets = parts.map((part) => Number.parseInt(part));
  const groups = groupsOf(address.slice(0, -last.length - 1), 6);
  if (!groups || !parts.every((part) => IPV4_PART.test(part)) || !areOctets(octets)) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = octets;
  return [...groups, (a << 8) | b, (c << 8) | d];
}

/** Reads groups, of which a gap represents the missing ones; without a gap a colon may follow (trap A27). */
function groupsOf(text: string, count: number): number[] | undefined {
  const halves = text.split("::");
  const [head = [], tail] = (halves.length === 1 ? [text.replace(/:$/, "")] : halves).map((half) =>
    half === "" ? [] : half.split(":"),
  );
  const gap = tail ? Math.max(0, count - head.length - tail.length) : 0;
  const groups = [...head, ...new Array<string>(gap).fill("0"), ...(tail ?? [])];
  const areGroups =
    halves.length <= 2 &&
    groups.length === count &&
    groups.every((group) => /^0*[0-9a-f]{1,4}$/i.test(group));
  return areGroups ? groups.map((group) => Number.parseInt(group, 16)) : undefined;
}
