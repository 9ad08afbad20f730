/**
 * Answers as texts. A row of a list that is put together as text is not taken apart again to be written: a page of a
 * hundred transactions is then a matter of joining (docs/decisions/0017-build-json-responses-by-concatenation.md).
 */

/** JSON text of a value: it can be an item or a member of an answer; its content cannot be read. */
export class JsonText<T> {
  readonly text: string;
  /** Never present: only the type has it, to distinguish texts of different values. */
  declare readonly value?: T;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value by its JSON text, which the caller has made. */
export const written = <T>(text: string): JsonText<T> => new JsonText(text);

/** What handlers may return for an answer: texts in place of its members, and of the rows of lists among them. */
export type Answer<T> = { [Name in keyof T]: Member<T[Name]> };
type Member<T> = T | JsonText<T> | (T extends readonly (infer Row)[] ? (Row | JsonText<Row>)[] : never);

/** The text of an answer. */
export function answerText(answer: unknown): string {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return JSON.stringify(answer);
  let members = "";
  for (const [name, value] of Object.entries(answer)) {
    const text = memberText(value);
    if (text !== undefined) members += `${members === "" ? "" : ","}${JSON.stringify(name)}:${text}`;
  }
  return `{${members}}`;
}

function memberText(value: unknown): string | undefined {
  if (value instanceof JsonText) return value.text;
  if (!Array.isArray(value) || !(value[0] instanceof JsonText)) return JSON.stringify(value);
  // Added up rather than joined: the whole answer becomes one text only when it is turned into bytes.
  let items = "";
  for (const item of value) {
    const text = item instanceof JsonText ? item.text : JSON.stringify(item);
    items += items === "" ? text : `,${text}`;
  }
  return `[${items}]`;
}
