/**
 * What is told instead of a content that is too large to be sent: what it is about, and where the whole of it can be
 * fetched (webhooks.md section 10, point 15).
 */

/** Bytes of a content as JSON. */
export const MAX_CONTENT_BYTES = 262_144;

/** Members that say what something is, wherever they appear. */
const NAMING = ["id", "height", "tokenId", "ownerId", "address", "publicKey", "delegate", "type", "message"];

/** Whether the JSON of a content is larger than what is sent. */
export const isTooLarge = (text: string): boolean =>
  // Most texts are so short that their bytes need not be counted.
  text.length * 3 > MAX_CONTENT_BYTES && Buffer.byteLength(text) > MAX_CONTENT_BYTES;

/** Has the shape of the content, a list stays a list; `link` is a path below the base URL of the API. */
export function thinned(name: string, content: unknown): unknown {
  if (Array.isArray(content)) return content.map((item) => thinned(name, item));
  if (typeof content !== "object" || content === null) return undefined;
  const members = content as Record<string, unknown>;
  const link = linkOf(name, members);
  return {
    ...Object.fromEntries(
      NAMING.flatMap((key) =>
        typeof members[key] === "object" || !(key in members) ? [] : [[key, members[key]]],
      ),
    ),
    ...(members.transaction !== undefined && {
      transaction: thinned("transaction", members.transaction),
    }),
    ...(link !== undefined && { link }),
  };
}

function linkOf(name: string, { id, address }: Record<string, unknown>): string | undefined {
  if (typeof address === "string") return `/api/v2/wallets/${address}`;
  if (typeof id !== "string") return undefined;
  return name.startsWith("block.") ? `/api/v2/blocks/${id}` : `/api/v2/transactions/${id}`;
}
