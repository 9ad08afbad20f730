/** Reads streams of unknown size, such as responses of other machines: as one text, or as lines. */
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

export type LineBound = {
  readonly maxCharacters: number;
  /** Creates the error of a longer line. */
  readonly tooLong: () => Error;
};

/** Yields the lines. Omits empty lines, and an incomplete last line. */
export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  { maxCharacters, tooLong }: LineBound,
): AsyncIterable<string> {
  const decoder = new TextDecoder();
  // The chunks are joined at the end of a line, so that a line of many chunks is copied only once.
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const texts = decoder.decode(chunk, { stream: true }).split("\n");
    const rest = texts.pop() ?? "";
    for (const text of texts) {
      const line = parts.join("") + text;
      parts = [];
      length = 0;
      if (line !== "") yield line;
    }
    parts.push(rest);
    length += rest.length;
    if (length > maxCharacters) throw tooLong();
  }
}
