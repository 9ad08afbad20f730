/** Lines with events of the node's log (docs/spec/feed.md 6). */
import { formOf } from "../platform/json/form.ts";
import { type Static, Type } from "../platform/json/schema.ts";
import { readLineAs } from "./line.ts";

/** An event: the columns of its row. */
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
  ...[integer, text, text, orNull(integer), orNull(text), integer, orNull(integer)],
  ...[orNull(text), orNull(text)],
];
const Event = Type.Unsafe<CopiedEvent>({
  type: "array",
  items: columns,
  minItems: columns.length,
  maxItems: columns.length,
});

const sequence = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const closed = { additionalProperties: false };
const Line = Type.Union([
  /** The next event follows `after`; `last` is the newest one in the log. */
  Type.Object({ after: sequence, last: sequence }, closed),
  Type.Object({ events: Type.Array(Event, { minItems: 1, maxItems: MAX_EVENTS }) }, closed),
]);

export type EventLine = Static<typeof Line>;

const LINE = formOf(Line);

/**
 * Parses a line without its line break.
 *
 * @throws {MirrorError} MIRROR_FEED_INVALID
 */
export const readEventLine = (line: string): EventLine => readLineAs(line, LINE);
