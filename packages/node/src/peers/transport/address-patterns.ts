/** Patterns of addresses in options: complete addresses, or texts in which `*` matches any part. */
import { normalizeAddress } from "../addresses.ts";

/** Returns true if an address, in any form, matches one of the patterns. */
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
