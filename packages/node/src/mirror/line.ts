/**
 * Reads the lines of a feed (docs/spec/feed.md 2). Nothing in a line is trusted before its digest and its form are
 * checked.
 */
import { hash } from "node:crypto";
import { type Form, formOf } from "../platform/json/form.ts";
import { type Static, Type } from "../platform/json/schema.ts";
import { MirrorError } from "./mirror-error.ts";

/** A record: table, key, and the members that are not part of the key; without members if the record was removed. */
export type Row = readonly [table: string, key: string, ...members: unknown[]];

const DIGEST_CHARACTERS = 64;
const MAX_ROWS = 1_000_000;

const id = Type.String({ maxLength: 64 });
const height = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Position = Type.Object({ height, id }, { additionalProperties: false });
const Rows = Type.Unsafe<readonly Row[]>({
  type: "array",
  maxItems: MAX_ROWS,
  items: { type: "array", minItems: 2, maxItems: 6 },
});
const closed = { additionalProperties: false };

const Bundle = Type.Object(
  { height, id, parent: id, block: Type.String(), changes: Type.Optional(Rows) },
  closed,
);
/** The node's tree of final facts up to a block: version of the log, number of leaves, and root. */
const Checkpoint = Type.Object(
  { height, id, version: Type.Literal(3), size: height, root: Type.String({ pattern: "^[0-9a-f]{64}$" }) },
  closed,
);
/** Sequence of the newest event in the log at a time when the block was the head of the node. */
const LogMark = Type.Object({ height, id, sequence: height }, closed);
const Line = Type.Union([
  Bundle,
  Type.Object({ back: Position }, closed),
  Type.Object({ state: Position }, closed),
  Type.Object({ rows: Rows }, closed),
  Type.Object({ end: height }, closed),
  Type.Object({ checkpoint: Checkpoint }, closed),
  Type.Object({ log: LogMark }, closed),
]);

export type Checkpoint = Static<typeof Checkpoint>;
export type LogMark = Static<typeof LogMark>;
export type Bundle = Static<typeof Bundle>;
export type FeedLine = Static<typeof Line>;

const LINE = formOf(Line);

/**
 * Parses a line without its line break.
 *
 * @throws {MirrorError} MIRROR_FEED_INVALID
 */
export const readLine = (text: string): FeedLine => readLineAs(text, LINE);

/**
 * Parses a line of a form.
 *
 * @throws {MirrorError} MIRROR_FEED_INVALID
 */
function readLineAs<T>(text: string, form: Form<T>): T {
  const json = text.slice(DIGEST_CHARACTERS + 1);
  if (text.slice(0, DIGEST_CHARACTERS) !== hash("sha256", json, "hex")) {
    throw new MirrorError("MIRROR_FEED_INVALID", "a line of the feed does not match its digest");
  }
  const line: unknown = JSON.parse(json);
  if (!form.is(line)) {
    throw new MirrorError(
      "MIRROR_FEED_INVALID",
      "a line of the feed has an unknown form; check that the node has the same version",
    );
  }
  return line;
}

/** An event of the node's log: the columns of its row. */
export type CopiedEvent = readonly [
  sequence: number,
  id: string,
  name: string,
  height: number | null,
  blockId: string | null,
  createdMs: number,
  timeMs: number | null,
  reverts: string | null,
  data: string | null,
];

const MAX_EVENTS = 1_000;

const integer = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const text = { type: "string" };
const orNull = (schema: { readonly type: string }) => ({ ...schema, type: [schema.type, "null"] });
const columns = [
  integer,
  text,
  text,
  orNull(integer),
  orNull(text),
  integer,
  orNull(integer),
  orNull(text),
  orNull(text),
];
const Event = Type.Unsafe<CopiedEvent>({
  type: "array",
  items: columns,
  minItems: columns.length,
  maxItems: columns.length,
});

const sequence = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Lines with events of the node's log (docs/spec/feed.md 6). */
const EventLines = Type.Union([
  /** The next event follows `after`; `last` is the newest one in the log. */
  Type.Object({ after: sequence, last: sequence }, closed),
  Type.Object({ events: Type.Array(Event, { minItems: 1, maxItems: MAX_EVENTS }) }, closed),
]);

export type EventLine = Static<typeof EventLines>;

const EVENT_LINE = formOf(EventLines);

/**
 * Parses a line without its line break.
 *
 * @throws {MirrorError} MIRROR_FEED_INVALID
 */
export const readEventLine = (line: string): EventLine => readLineAs(line, EVENT_LINE);
