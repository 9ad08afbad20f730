/** Checks if a DER signature is readable: for unreadable ones, the old node throws an exception. */

/**
 * Returns true if a signature is readable to its end. An unreadable signature is not only invalid: it ends
 * the check of a block (blocks.md 7) and the parsing of a transaction (identities.md 6). Two readers decide:
 * a lax one that trusts the lengths, then the strict one if it would read beyond the end.
 */
export function isReadableDer(signature: Uint8Array): boolean {
  if (signature[0] !== 0x30 || signature.length < 2) return false;
  // The lax reader does not check the length of the sequence, it only skips its long form.
  const second = signature[1] ?? 0;
  const extra = second >= 0x80 ? second - 0x80 : 0;
  const afterR = readInteger(signature, 2 + extra);
  if (afterR === undefined || readInteger(signature, afterR) === undefined) return false;

  // The strict reader stops without an exception on a wrong frame, so it never reads beyond the end.
  if (second !== signature.length - 2) return true;
  const sAt = 4 + (signature[3] ?? 0);
  const sLength = signature[sAt + 1];
  if (sLength === undefined) return false;
  if (signature.length !== sAt + 2 + sLength || !isMinimal(signature, 4)) return true;
  // An empty s, or a single zero, has no further byte to compare with.
  return !(sLength === 0 || (sLength === 1 && signature[sAt + 2] === 0));
}

/** Returns the position of the next element, or undefined if this is not an integer within the bytes. */
function readInteger(signature: Uint8Array, at: number): number | undefined {
  if (signature[at] !== 0x02 || at + 1 >= signature.length) return undefined;
  let start = at + 2;
  let length = signature[at + 1] ?? 0;
  if (length >= 0x80) {
    // Long form: that many bytes have the length, leading zeros not counted, at most three others.
    const end = start + length - 0x80;
    if (end > signature.length) return undefined;
    while (start < end && signature[start] === 0) start++;
    if (end - start > 3) return undefined;
    for (length = 0; start < end; start++) length = length * 256 + (signature[start] ?? 0);
  }
  return start + length <= signature.length ? start + length : undefined;
}

/** Neither negative nor with a superfluous leading zero byte. */
function isMinimal(signature: Uint8Array, at: number): boolean {
  const first = signature[at] ?? 0;
  return first <= 0x7f && (first !== 0 || (signature[at + 1] ?? 0) > 0x7f);
}
