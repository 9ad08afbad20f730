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

/** Four octets. Parts may be decimal, octal with prefix 0 or hexadecimal with prefix `0x`; one part is all 32 bits. */
function parseIpv4(text: string): number[] | undefined {
  const parts = text.split(".");
  if (!parts.every((part) => /^(?:0x[0-9a-f]+|\d+)$/i.test(part))) return undefined;
  const numbers = parts.map((part) =>
    /^0\d/.test(part)
      ? Number.parseInt(part, 8)
      : Number.parseInt(part, part.length > 1 && part[0] === "0" ? 16 : 10),
  );
  const [first = 0] = numbers;
  if (numbers.length === 1 && first <= 0xffffffff) {
    return [first >>> 24, (first >>> 16) & 0xff, (first >>> 8) & 0xff, first & 0xff];
  }
  return numbers.length === 4 && numbers.every((octet) => octet <= 255) ? numbers : undefined;
}

/** Eight groups of 16 bits. The last two may be written as an IPv4 address; a zone may follow. */
function parseIpv6(text: string): number[] | undefined {
  const address = text.replace(/%[0-9a-z]+$/i, "").replace(/(?<=:)[\d.]+\.[\d.]+$/, groupsOfIpv4);
  const halves = address.split("::");
  const [head = [], tail] = halves.map((half) => (half === "" ? [] : half.split(":")));
  // The gap represents the missing groups.
  const gap = Math.max(0, 8 - head.length - (tail?.length ?? 8));
  const groups = [...head, ...Array<string>(gap).fill("0"), ...(tail ?? [])];
  const isAddress =
    halves.length <= 2 && groups.length === 8 && groups.every((group) => /^0*[0-9a-f]{1,4}$/i.test(group));
  return isAddress ? groups.map((group) => Number.parseInt(group, 16)) : undefined;
}

/** Converts the 32 bits to two groups; a text that is not an IPv4 address is returned unchanged. */
function groupsOfIpv4(text: string): string {
  const octets = parseIpv4(text);
  if (!octets) return text;
  const [a = 0, b = 0, c = 0, d = 0] = octets;
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}
