/** The last tree that a witness signed, in a file that is replaced before the signature is shown. */
import { existsSync, readFileSync } from "node:fs";
import { writeWholeFile } from "../platform/files/whole-file.ts";
import { FILE_BOUNDS, parseExternal } from "../platform/json/external.ts";
import { formOf } from "../platform/json/form.ts";
import { type Static, Type } from "../platform/json/schema.ts";
import { DataError } from "../store/engine/data-error.ts";

const MAX_NOTE = 65_536;
const MAX_NODES = 64;
/** Checkpoints that contradict the signed one: the file stays within the bound of files. */
export const MAX_CONTRADICTING = 8;

const schema = Type.Object({
  format: Type.Literal(1),
  /** Name of the log, which contains the nethash. */
  log: Type.String({ minLength: 1, maxLength: 256 }),
  size: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  root: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  height: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  /** The signed note, with all signatures. */
  note: Type.String({ maxLength: MAX_NOTE }),
  /** Key of each node, by URL, from its first response on. */
  keys: Type.Record(Type.String({ maxLength: 2_048 }), Type.String({ maxLength: 1_024 }), {
    maxProperties: MAX_NODES,
  }),
  /** Signed checkpoints of nodes whose tree does not contain the signed one; the witness shows nothing while there are some. */
  contradictedBy: Type.Optional(
    Type.Array(
      Type.Object({ url: Type.String({ maxLength: 2_048 }), note: Type.String({ maxLength: MAX_NOTE }) }),
      { maxItems: MAX_CONTRADICTING },
    ),
  ),
});

export type WitnessState = Static<typeof schema>;

const FORM = formOf(schema);

/** @throws {DataError} DATA_DAMAGED */
export function readState(path: string): WitnessState | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return parseExternal(readFileSync(path, "utf8"), FORM, FILE_BOUNDS);
  } catch (error) {
    throw new DataError(
      "DATA_DAMAGED",
      `${path} cannot be read (${(error as Error).message}): restore it from a backup, or start anew with another --data, which creates another key: with this key, the witness could sign a tree that contradicts the one it signed`,
    );
  }
}

export const writeState = (path: string, state: WitnessState): void =>
  writeWholeFile(path, `${JSON.stringify(state, null, 2)}\n`);
