/** Property maps of payloads: NFT properties and ports (transactions.md 11). */

/**
 * The name under which nothing can be added to a JavaScript object. The old network's software tries, and so
 * drops what bytes hold under it.
 */
const VANISHING_NAME = "__proto__";

/**
 * Adds what was read from bytes. The order of transactions.md 11 is the one in which JavaScript enumerates members; a
 * repeated name keeps its first place and takes the last value.
 */
export function addProperty<T>(properties: Record<string, T>, name: string, value: T): void {
  if (name !== VANISHING_NAME) properties[name] = value;
}
