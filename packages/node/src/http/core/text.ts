/**
 * Responses as texts. Rows that are built as JSON text need no serialisation: a page of a hundred transactions is then
 * a concatenation (docs/decisions/0017-write-json-without-a-compiled-serializer.md).
 */

/** JSON text of a value, as an item or a member of a response; its content cannot be read. */
export class JsonText<T> {
  readonly text: string;
  /** Never set; it only distinguishes the types of different values. */
  declare readonly value?: T;

  constructor(text: string) {
    this.text = text;
  }
}

/** Result of a handler: members and rows of lists may be JSON texts. */
export type HandlerResult<T> = { [Name in keyof T]: Member<T[Name]> };
type Member<T> = T | JsonText<T> | (T extends readonly (infer Row)[] ? (Row | JsonText<Row>)[] : never);

/** Returns the JSON text of a response. */
export function responseText(response: unknown): string {
  if (typeof response !== "object" || response === null || Array.isArray(response))
    return JSON.stringify(response);
  let members = "";
  for (const [name, value] of Object.entries(response)) {
    const text = memberText(value);
    if (text !== undefined) members += `${members === "" ? "" : ","}${JSON.stringify(name)}:${text}`;
  }
  return `{${members}}`;
}

function memberText(value: unknown): string | undefined {
  if (value instanceof JsonText) return value.text;
  if (!Array.isArray(value) || !(value[0] instanceof JsonText)) return JSON.stringify(value);
  // Concatenated rather than joined: the whole response becomes one flat text only when it is converted to bytes.
  let items = "";
  for (const item of value) {
    const text = item instanceof JsonText ? item.text : JSON.stringify(item);
    items += items === "" ? text : `,${text}`;
  }
  return `[${items}]`;
}
