/** The manifest of a snapshot. It is written last: a folder without it is not a complete snapshot. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Type, { type Static } from "typebox";
import { Value } from "typebox/value";
import { writeWholeFile } from "../platform/files/whole-file.ts";
import { ArchiveError } from "./error.ts";

const count = Type.Integer({ minimum: 0 });
const sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });

const manifestSchema = Type.Object({
  /** Version of the format. */
  format: Type.Literal(1),
  /** Version of the program that created it. */
  program: Type.String(),
  /** ISO 8601, UTC. */
  createdAt: Type.String(),
  nethash: sha256,
  /** The last block. */
  head: Type.Object({ height: Type.Integer({ minimum: 1 }), id: Type.String({ minLength: 1 }) }),
  transactions: count,
  /** See `stateDigest`. */
  state: sha256,
  /** Tree of final facts up to this block (facts.md 3); absent if the node had none yet. */
  facts: Type.Optional(
    Type.Object({
      height: Type.Integer({ minimum: 1 }),
      id: Type.String({ minLength: 1 }),
      size: Type.Integer({ minimum: 1 }),
      root: sha256,
    }),
  ),
  /** The compressed database; `bytes` and `sha256` describe the uncompressed file. */
  database: Type.Object({ file: Type.Literal("chain.sqlite.zst"), bytes: count, sha256 }),
});

export type Manifest = Static<typeof manifestSchema>;

export const DATABASE_FILE = "chain.sqlite.zst";
const FILE = "manifest.json";

export function writeManifest(folder: string, manifest: Manifest): void {
  writeWholeFile(join(folder, FILE), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** @throws {ArchiveError} ARCHIVE_MISSING, ARCHIVE_DAMAGED */
export function readManifest(folder: string): Manifest {
  const path = join(folder, FILE);
  if (!existsSync(path)) {
    throw new ArchiveError(
      "ARCHIVE_MISSING",
      `${folder} is not a snapshot: it has no ${FILE}; name a folder that "uniknode snapshot create" wrote`,
    );
  }
  const content = parse(path);
  const [problem] = Value.Errors(manifestSchema, content);
  if (problem) {
    throw new ArchiveError("ARCHIVE_DAMAGED", `${path}: ${problem.instancePath || "it"} ${problem.message}`);
  }
  return content as Manifest;
}

function parse(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new ArchiveError("ARCHIVE_DAMAGED", `${path} cannot be read: ${(error as Error).message}`);
  }
}
