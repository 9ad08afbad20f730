/** The manifest of a snapshot. It is written last: a folder without it is not a complete snapshot. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { writeWholeFile } from "../platform/files/whole-file.ts";
import { FILE_BOUNDS, parseExternal } from "../platform/json/external.ts";
import { formOf } from "../platform/json/form.ts";
import { type Static, Type } from "../platform/json/schema.ts";
import { isUnfinished } from "../store/engine/new-folder.ts";
import { ArchiveError } from "./archive-error.ts";

const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const height = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const id = Type.String({ minLength: 1, maxLength: 64 });
const sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });

const manifestSchema = Type.Object({
  /** Version of the format. */
  format: Type.Literal(1),
  /** Version of the program that created it. */
  program: Type.String({ maxLength: 64 }),
  /** ISO 8601, UTC. */
  createdAt: Type.String({ maxLength: 64 }),
  nethash: sha256,
  /** The last block. */
  head: Type.Object({ height, id }),
  transactions: count,
  /** See `stateDigest`. */
  state: sha256,
  /** Tree of final facts up to this block (facts.md 3); absent if the node had none yet. */
  facts: Type.Optional(
    Type.Object({
      /** Version of the log. */
      version: Type.Literal(3),
      height,
      id,
      size: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
      root: sha256,
    }),
  ),
  /** The compressed database; `bytes` and `sha256` describe the uncompressed file. */
  database: Type.Object({
    file: Type.Literal("chain.sqlite.zst"),
    // A size beyond 2^53 is refused with the space that it needs.
    bytes: Type.Integer({ minimum: 0 }),
    sha256,
  }),
});

export type Manifest = Static<typeof manifestSchema>;

const MANIFEST = formOf(manifestSchema);

export const DATABASE_FILE = "chain.sqlite.zst";
export const MANIFEST_FILE = "manifest.json";

export function writeManifest(folder: string, manifest: Manifest): void {
  writeWholeFile(join(folder, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** @throws {ArchiveError} ARCHIVE_MISSING, ARCHIVE_DAMAGED */
export function readManifest(folder: string): Manifest {
  const path = join(folder, MANIFEST_FILE);
  if (!existsSync(path)) {
    if (isUnfinished(folder)) {
      throw new ArchiveError(
        "ARCHIVE_MISSING",
        `the snapshot ${folder} is unfinished: "uniknode snapshot create" was interrupted, or still runs; if it was ` +
          `interrupted, repeat it with --output ${folder}`,
      );
    }
    throw new ArchiveError(
      "ARCHIVE_MISSING",
      `${folder} is not a snapshot: it has no ${MANIFEST_FILE}; name a folder that "uniknode snapshot create" wrote`,
    );
  }
  try {
    // A link in a foreign snapshot can lead to a device that never ends.
    if (!statSync(path).isFile()) throw new Error("it is not a file");
    return parseExternal(readFileSync(path, "utf8"), MANIFEST, FILE_BOUNDS);
  } catch (error) {
    throw new ArchiveError("ARCHIVE_DAMAGED", `${path} cannot be read: ${(error as Error).message}`);
  }
}
