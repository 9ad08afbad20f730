/** Splits a stream of bytes into lines. */

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
  // Joined at the end of a line, so that a line of many chunks is copied only once.
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
