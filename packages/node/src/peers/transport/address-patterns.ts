/** Addresses as settings name them: whole ones, or patterns in which `*` stands for any part. */

/** Whether an address, in the form in which a connection comes from it, matches one of the patterns. */
export function matchesAddress(patterns: readonly string[]): (address: string) => boolean {
  const expressions = patterns.map(
    (pattern) =>
      new RegExp(
        `^${pattern
          .split("*")
          .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
          .join(".*")}$`,
      ),
  );
  return (address) =>
    formsOf(address).some((form) => expressions.some((expression) => expression.test(form)));
}

const MAPPED = "::ffff:";

/** An IPv4 address may come as it is or mapped into IPv6; both mean the same (p2p.md 17, 7). */
export const formsOf = (address: string): string[] =>
  address.startsWith(MAPPED)
    ? [address, address.slice(MAPPED.length)]
    : address.includes(":")
      ? [address]
      : [address, `${MAPPED}${address}`];
