/** Texts that are stored as bytes, because PostgreSQL text cannot contain U+0000. */

export const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString();
export const textOrNull = (bytes: Uint8Array | null): string | null => bytes && textOf(bytes);
export const bytesOf = (text: string): Uint8Array => Buffer.from(text);
