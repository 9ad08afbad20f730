/** Property maps of payloads: NFT properties and ports (transactions.md 11). */

/**
 * The name that cannot be assigned to a JavaScript object. The old node tries, and so
 * drops this property of the bytes.
 */
const VANISHING_NAME = "__proto__";

/**
 * Adds a property that was read from bytes. The order of transactions.md 11 is that in which JavaScript enumerates
 * members; a repeated name keeps its first position and gets the last value.
 */
export function addProperty<T>(properties: Record<string, T>, name: string, value: T): void {
  if (name !== VANISHING_NAME) properties[name] = value;
}
