/** Addresses that may be seed nodes of a bridgechain (transactions.md 8.3). */

/**
 * Whether a text is an IPv4 or IPv6 literal that is not loopback and whose IPv4 form does not start with
 * zero. Private ranges pass.
 */
export function isSeedNode(text: string): boolean {
  const octets = text.includes(":") ? undefined : parseIpv4(text);
  if (octets) return isForeignIpv4(octets);
  const groups = parseIpv6(text);
  if (!groups) return false;
  const head = groups.slice(0, 5);
  if (head.some((group) => group !== 0)) return true;
  const [sixth = 0, high = 0, low = 0] = groups.slice(5);
  // An IPv4 address in the form ::ffff:a.b.c.d is judged as what it is.
  if (sixth === 0xffff) return isForeignIpv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
  return sixth !== 0 || high !== 0 || low !== 1;
}

const isForeignIpv4 = ([first]: readonly number[]) => first !== 127 && first !== 0;

/** Four octets. Parts may be decimal, octal behind a zero or hexadecimal behind `0x`; one part is all 32 bits. */
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
  const address = text.replace(/%[0-9a-z]+$/i, "");
  const halves = address.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half) => (half === "" ? [] : half.split(":").flatMap(groupsOf)));
  const groups = tail
    ? [...head!, ...Array(Math.max(0, 8 - head!.length - tail.length)).fill(0), ...tail]
    : head!;
  const isComplete = groups.length === 8 && groups.every((group) => group >= 0 && group <= 0xffff);
  return isComplete ? groups : undefined;
}

/** NaN stands for what is no group. */
function groupsOf(text: string, index: number, all: readonly string[]): number[] {
  if (/^[0-9a-f]+$/i.test(text)) return [Number.parseInt(text, 16)];
  const octets = index === all.length - 1 && text.includes(".") ? parseIpv4(text) : undefined;
  if (!octets) return [Number.NaN];
  const [a = 0, b = 0, c = 0, d = 0] = octets;
  return [(a << 8) | b, (c << 8) | d];
}
