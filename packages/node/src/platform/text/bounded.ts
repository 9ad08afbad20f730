/** Reads texts of unknown size, such as responses of other machines. */

/**
 * Returns the text of a stream of UTF-8.
 *
 * @throws {Error} as soon as it is longer than the bound; the rest is not read
 */
export async function readBounded(
  stream: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of stream ?? []) {
    size += part.length;
    if (size > maxBytes) throw new Error(`the text is longer than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
