/** The text of a message (p2p.md 3.1): compact JSON in which byte strings are objects of their own form. */

/** A byte string as JSON. */
type WrappedBytes = { base64: true; data: string };

/** Members that are undefined are left out; a `Uint8Array` at any place is a byte string. */
export const encodeValue = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value, wrapBytes);

/** Takes the holder's member, since a Buffer has become something else before the value gets here. */
function wrapBytes(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const original = this[key];
  if (!(original instanceof Uint8Array)) return value;
  const { buffer, byteOffset, length } = original;
  return { base64: true, data: Buffer.from(buffer, byteOffset, length).toString("base64") };
}

/** What a text stands for: itself unless it begins like an object or a list and is JSON. */
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

function unwrapBytes(_key: string, value: unknown): unknown {
  if (!isWrappedBytes(value)) return value;
  const { buffer, byteOffset, length } = Buffer.from(value.data, "base64");
  return new Uint8Array(buffer, byteOffset, length);
}

const isWrappedBytes = (value: unknown): value is WrappedBytes =>
  typeof value === "object" &&
  value !== null &&
  (value as Partial<WrappedBytes>).base64 === true &&
  typeof (value as Partial<WrappedBytes>).data === "string";
