/** Text from outside the program, such as names, messages and errors: bounded and escaped before a log or a terminal gets it. */

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
