/** Addresses as settings name them: whole ones, or patterns in which `*` stands for any part. */
import { normalizeAddress } from "../addresses.ts";

/** Whether an address, in whatever form, matches one of the patterns. */
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
    formsOf(normalizeAddress(address)).some((form) =>
      expressions.some((expression) => expression.test(form)),
    );
}

const MAPPED = "::ffff:";

/** Patterns may be of IPv4 addresses as they are, or mapped into IPv6 as old nodes see them. */
const formsOf = (address: string): string[] =>
  address.includes(":") ? [address] : [address, `${MAPPED}${address}`];
