/**
 * Formats the lines of the feed (docs/spec/feed.md 2): the SHA-256 of a JSON text, a space, and the text. A line that
 * was truncated or changed in transit does not match its digest. An empty line is a heartbeat.
 */
import { hash } from "node:crypto";
import { joinBlock } from "@uniknode/protocol";
import type { Checkpoint } from "../facts/note.ts";
import type { BlockBytes } from "../store/chain/blocks.ts";

/** A position on the chain: the state after a block. */
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

export const HEARTBEAT = "\n";

const line = (json: string): string => `${hash("sha256", json, "hex")} ${json}\n`;

/**
 * Formats a block with the id of its parent.
 *
 * @param changes JSON text of the records that the block wrote; undefined for blocks below a state that is sent
 * separately
 */
export function bundleLine(
  { height, id, header, transactions }: BlockBytes,
  parent: string,
  changes: string | undefined,
): string {
  const block = Buffer.from(joinBlock(header, transactions)).toString("base64");
  const written = changes === undefined ? "" : `,"changes":${changes}`;
  return line(`{"height":${height},"id":"${id}","parent":"${parent}","block":"${block}"${written}}`);
}

/** Requires the mirror to return to a common block, and to request the feed again from there. */
export const backLine = ({ height, id }: Position): string => line(JSON.stringify({ back: { height, id } }));

/** Begins the rows of the state after a block. */
export const stateLine = ({ height, id }: Position): string =>
  line(JSON.stringify({ state: { height, id } }));

/** @param rows JSON texts of rows: table, key and members */
export const rowsLine = (rows: readonly string[]): string => line(`{"rows":[${rows.join()}]}`);

/**
 * Returns a function that formats the sequence of the newest event in the log after a block, or no line if the response has
 * this sequence.
 */
export function createLogLines(): (head: Position, sequence: number | undefined) => string {
  let sent = 0;
  return ({ height, id }, sequence = sent) => {
    if (sequence === sent) return "";
    sent = sequence;
    return line(JSON.stringify({ log: { height, id, sequence } }));
  };
}

/** Version, size and root of the node's fact tree after a block. */
export const checkpointLine = ({ height, id }: Position, { size, root }: Checkpoint): string =>
  line(
    JSON.stringify({ checkpoint: { height, id, version: 3, size, root: Buffer.from(root).toString("hex") } }),
  );

/**
 * Begins the events after a sequence.
 *
 * @param last sequence of the newest event in the log
 */
export const eventStartLine = (after: number, last: number): string => line(JSON.stringify({ after, last }));

/** @param events JSON texts of events, each a list of its columns */
export const eventsLine = (events: readonly string[]): string => line(`{"events":[${events.join()}]}`);

/** Ends a complete response. */
export const endLine = (count: number): string => line(JSON.stringify({ end: count }));
