/**
 * Position of a client: the id of an event in a stream, which `Last-Event-ID` sends back.
 *
 * `4711.1200.13856390865034637215` is sequence 4711 of the event log, about the block 13856390865034637215 at height
 * 1200. Without a sequence, the event was derived from a stored block; without a block, it is not a fact of the chain.
 */

export type BlockRef = { readonly height: number; readonly blockId: string };

export type Position = {
  /** Last event of the log that was sent. */
  readonly sequence?: number;
  /** All events before this block were sent. */
  readonly block?: BlockRef;
};

export const positionText = ({ sequence, block }: Position): string =>
  `${sequence ?? ""}${block ? `.${block.height}.${block.blockId}` : ""}`;

const TEXT = /^(\d{1,15})?(?:\.(\d{1,10})\.(\d{1,20}|[0-9a-f]{64}))?$/;

/** Parses a position; undefined if the text is not a position. */
export function readPosition(text: string): Position | undefined {
  const [whole, sequence, height, blockId] = TEXT.exec(text) ?? [];
  if (!whole) return undefined;
  return {
    ...(sequence !== undefined && { sequence: Number(sequence) }),
    ...(height !== undefined && blockId !== undefined && { block: { height: Number(height), blockId } }),
  };
}
