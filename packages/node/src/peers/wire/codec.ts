/** Codec of the text of a message (p2p.md 3.1): compact JSON with byte strings as wrapper objects. */

/** A byte string as JSON. */
type WrappedBytes = { base64: true; data: string };

/** Omits members that are undefined; a `Uint8Array` at any depth is a byte string. */
export const encodeValue = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value, wrapBytes);

/** Reads the member from its parent, since `toJSON` of a Buffer has already replaced the value. */
function wrapBytes(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const original = this[key];
  if (!(original instanceof Uint8Array)) return value;
  const { buffer, byteOffset, length } = original;
  return { base64: true, data: Buffer.from(buffer, byteOffset, length).toString("base64") };
}

/** Returns the value of a text: the parsed JSON if it begins like an object or a list, otherwise the text itself. */
export function decodeValue(text: string): unknown {
  if (!/^[ \n\r\t]*[{[]/.test(text)) return text;
  try {
    return JSON.parse(text, unwrapBytes);
  } catch {
    return parsed(text);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the bytes that an object represents, or the value itself. */
export function unwrapBytes(_key: string, value: unknown): unknown {
  if (!isWrappedBytes(value)) return value;
  const { buffer, byteOffset, length } = Buffer.from(value.data, "base64");
  return new Uint8Array(buffer, byteOffset, length);
}

const isWrappedBytes = (value: unknown): value is WrappedBytes =>
  typeof value === "object" &&
  value !== null &&
  (value as Partial<WrappedBytes>).base64 === true &&
  typeof (value as Partial<WrappedBytes>).data === "string";
