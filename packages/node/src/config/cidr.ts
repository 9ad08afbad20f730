/** Lists of networks (address ranges) in options. */
import ipaddr from "ipaddr.js";

/**
 * Networks in CIDR notation, and single addresses, as one text with commas or as a JSON array of texts.
 *
 * @throws {Error} naming the entry that is neither
 */
export function readCidrs(value: unknown): readonly string[] {
  const entries = typeof value === "string" ? value.split(",") : value;
  if (!Array.isArray(entries)) throw new Error(EXPECTED);
  return entries.map((entry) => readCidr(typeof entry === "string" ? entry.trim() : ""));
}

const EXPECTED = "a list of networks such as 10.1.0.0/16,fd00::/8 is expected";

function readCidr(entry: string): string {
  if (ipaddr.isValidCIDR(entry)) return entry;
  if (!ipaddr.isValid(entry) || !/[.:].*[.:]/.test(entry)) throw new Error(EXPECTED);
  return `${entry}/${ipaddr.parse(entry).kind() === "ipv4" ? 32 : 128}`;
}
