/**
 * Answers as texts. A row of a list that is put together as text is not taken apart again to be written: a page of a
 * hundred transactions is then a matter of joining (docs/decisions/0017-answers-are-joined-from-texts.md).
 */

/** JSON text that stands for a value. */
class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value by its JSON text. It can be returned as, or listed in, a member of an answer; it cannot be looked into. */
export const written = <T>(text: string): T => new JsonText(text) as T;

/** The text of an answer, in whose members, and lists that are members, there may be texts. */
export function answerText(answer: unknown): string {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return JSON.stringify(answer);
  const members = Object.entries(answer).flatMap(([name, value]) => {
    const text = memberText(value);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${members.join()}}`;
}

function memberText(value: unknown): string | undefined {
  if (value instanceof JsonText) return value.text;
  if (!Array.isArray(value) || !(value[0] instanceof JsonText)) return JSON.stringify(value);
  return `[${value.map((item) => (item instanceof JsonText ? item.text : JSON.stringify(item))).join()}]`;
}
