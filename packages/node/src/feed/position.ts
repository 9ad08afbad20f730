/** Positions on the chain, as mirrors send them. */

/** The state after a block. */
export type Position = { readonly height: number; readonly id: string };

/** An id is a decimal number of 64 bits at old heights, and a SHA-256 hash at all others. */
const POSITION = /^([1-9]\d{0,15}):([0-9a-f]{64}|\d{1,20})$/;

/** Formats a position as `HEIGHT:ID`. */
export const positionText = ({ height, id }: Position): string => `${height}:${id}`;

/** Parses `HEIGHT:ID`. Returns undefined for any other text. */
export function readPosition(text: string): Position | undefined {
  const [, height, id] = POSITION.exec(text) ?? [];
  return height === undefined || id === undefined ? undefined : { height: Number(height), id };
}
