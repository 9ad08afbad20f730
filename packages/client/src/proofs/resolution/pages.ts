/** Pages of the properties of a unik (facts.md 11). */
import { bytesToHex, hexToBytes } from "@uniknode/protocol";
import type { PropertyPage } from "../../api/resources/uniks.ts";
import type { Properties } from "./form.ts";
import { agree, rootOfSubtree, textHash } from "./merkle.ts";
import { refuseUnless } from "./verdict.ts";

/** The digest from which the first page begins. */
export const FIRST = "0".repeat(64);
/** Properties without which the verdict about a unik would be incomplete. */
export const TYPE = "type";
export const LIFE_CYCLE = "LifeCycle/Status";

export const digestOf = (name: string): string => bytesToHex(textHash(name));

/**
 * Returns the properties of pages.
 *
 * @throws {Refusal} PROPERTIES for a page that does not lead to the root
 */
export function provenProperties(pages: readonly PropertyPage[], root: string): Properties {
  const all: [name: string, value: string][] = [];
  for (const { from, siblings, properties } of pages) {
    const entries = Object.entries(properties);
    const leaves = entries.map(([name, value]) => ({ key: digestOf(name), value: digestOf(value) }));
    refuseUnless(
      leaves.every(({ key }) => agree(key, from, siblings.length)) &&
        rootOfSubtree(from, leaves, siblings) === root,
      "PROPERTIES",
      `the page from ${from} does not lead to the root of the properties`,
    );
    for (const entry of entries) all.push(entry);
  }
  return Object.fromEntries(all);
}

/** Returns true if a page shows a property, or that there is none. */
export const hasDigest = (pages: readonly PropertyPage[], digest: string): boolean =>
  pages.some(({ from, siblings }) => agree(from, digest, siblings.length));

/** Returns the first digest from `first` on that no page has; null if there is none. */
export function nextOf(pages: readonly PropertyPage[], first: string): string | null {
  let next = toNumber(first);
  const ends = pages.map((page) => rangeOf(page)).sort(({ start: a }, { start: b }) => (a < b ? -1 : 1));
  for (const { start, end } of ends) if (start <= next && next < end) next = end;
  return next < LIMIT ? next.toString(16).padStart(64, "0") : null;
}

const LIMIT = 1n << 256n;
const toNumber = (digest: string): bigint => BigInt(`0x${bytesToHex(hexToBytes(digest))}`);

function rangeOf({ from, siblings }: PropertyPage): { start: bigint; end: bigint } {
  const bits = BigInt(256 - siblings.length);
  const start = (toNumber(from) >> bits) << bits;
  return { start, end: start + (1n << bits) };
}
