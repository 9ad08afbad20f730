/**
 * Text from outside the program, such as names, messages, errors and responses of other machines: bounded when it is
 * read, and escaped before a log or a terminal gets it.
 */
/**
 * Characters that change how the text around them is shown, or are not shown themselves: controls (C0, DEL, C1), line
 * separators, bidirectional marks, zero-width and other invisible characters, and halves of surrogate pairs.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Escapes unsafe characters as JSON does, so that the value of a JSON text stays the same. */
export const withoutControls = (text: string): string => text.replace(UNSAFE, escaped);

/** Does the same as `withoutControls` for a text of several lines. */
export const linesWithoutControls = (text: string): string =>
  text.replace(UNSAFE, (unsafe) => (unsafe === "\n" ? unsafe : escaped(unsafe)));

/** Escapes each half of a surrogate pair by itself. */
function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}

/** Returns the beginning and the end of a long text, with the number of characters between them. */
export function shortened(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const end = Math.floor(maxLength / 4);
  const begin = maxLength - end;
  return `${text.slice(0, begin)} ... ${text.length - maxLength} characters ... ${text.slice(-end)}`;
}

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
