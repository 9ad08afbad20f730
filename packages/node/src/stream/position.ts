/**
 * How far a reader has come: the id of an event in a stream, and what `Last-Event-ID` brings back.
 *
 * `4711.1200.13856390865034637215` is sequence 4711 of the event log, told of the block 13856390865034637215 at height
 * 1200. Without a sequence, the event was made again from a stored block; without a block, it is no fact of the chain.
 */

export type Place = { readonly height: number; readonly blockId: string };

export type Position = {
  /** Last event of the log that was told. */
  readonly sequence?: number;
  /** Everything before this block was told. */
  readonly place?: Place;
};

export const positionText = ({ sequence, place }: Position): string =>
  `${sequence ?? ""}${place ? `.${place.height}.${place.blockId}` : ""}`;

const TEXT = /^(\d{1,15})?(?:\.(\d{1,10})\.(\d{1,20}|[0-9a-f]{64}))?$/;

/** Undefined for a text that is no position. */
export function readPosition(text: string): Position | undefined {
  const [whole, sequence, height, blockId] = TEXT.exec(text) ?? [];
  if (!whole) return undefined;
  return {
    ...(sequence !== undefined && { sequence: Number(sequence) }),
    ...(height !== undefined && blockId !== undefined && { place: { height: Number(height), blockId } }),
  };
}
