/** Detects the kinds of objects that a text may identify, by its format. */

export type Identified =
  | { readonly kind: "height"; readonly height: number }
  | { readonly kind: "hash"; readonly hash: string }
  /** Prefix of a block or transaction id. */
  | { readonly kind: "prefix"; readonly prefix: string }
  | { readonly kind: "publicKey"; readonly publicKey: string }
  | { readonly kind: "address"; readonly address: string }
  /** Part of the displayed name of a delegate. */
  | { readonly kind: "name"; readonly name: string };

const NAME = /^[\p{L}\p{N}!@$&_.-]{1,64}$/u;

/** Returns all possible kinds, most likely first. */
export function identify(input: string): readonly Identified[] {
  const text = input.trim().replace(/^[@#]/, "");
  const found: Identified[] = [];
  const height = text.replace(/[\s,.'’]/g, "");
  if (/^\d{1,15}$/.test(height) && Number(height) > 0) found.push({ kind: "height", height: Number(height) });
  // The genesis block has a decimal id.
  if (/^([0-9a-f]{64}|\d{16,20})$/i.test(text)) found.push({ kind: "hash", hash: text.toLowerCase() });
  if (/^[0-9a-f]{4,63}$/i.test(text)) found.push({ kind: "prefix", prefix: text.toLowerCase() });
  if (/^0[23][0-9a-f]{64}$/i.test(text)) found.push({ kind: "publicKey", publicKey: text.toLowerCase() });
  if (/^[1-9A-HJ-NP-Za-km-z]{34}$/.test(text)) found.push({ kind: "address", address: text });
  if (NAME.test(text.toLowerCase())) found.push({ kind: "name", name: text.toLowerCase() });
  return found;
}
