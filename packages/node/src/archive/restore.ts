/** Restores a snapshot to a data folder. */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, renameSync, rmSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { flushToDisk } from "../platform/files/whole-file.ts";
import { withoutSignalHandlers } from "../platform/lifecycle/process.ts";
import { lockDataFolder } from "../store/engine/folder-lock.ts";
import { openReader } from "../store/engine/migrations.ts";
import { ArchiveError } from "./archive-error.ts";
import { type CheckDeps, checkChain } from "./check.ts";
import { copyChain, stateDigest } from "./copy.ts";
import { buildFacts } from "./facts.ts";
import { type Manifest, readManifest } from "./manifest.ts";

export type RestoreDeps = Omit<CheckDeps, "onPart"> & {
  /** Called with the current step and its completed fraction: 0 to 1. */
  readonly onProgress: (step: string, part: number) => void;
  /** Called before the locked folder gets the chain, for files that the chain must have beside it. */
  readonly claimFolder?: () => void;
};

/**
 * Checks every block of the snapshot and makes it the chain of an empty data folder. A node then continues at its last
 * block. A killed restore leaves a folder without a chain, which the next one uses.
 *
 * @throws {DataInUseError}
 * @throws {ArchiveError} with any code; the data folder then still has no chain
 */
export async function restoreSnapshot(folder: string, data: string, deps: RestoreDeps): Promise<Manifest> {
  const manifest = readManifest(folder);
  const lock = lockDataFolder(data);
  try {
    const path = join(data, "node.sqlite");
    // An interrupted start leaves an empty file.
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0) {
      throw new ArchiveError(
        "ARCHIVE_EXISTS",
        `${data} already has a chain: an interrupted restore leaves none, so that you can start a node on it; or choose ` +
          "an empty folder with --data",
      );
    }
    const part = join(data, "restored.sqlite");
    try {
      await extractChain(folder, manifest, part, deps);
      flushToDisk(part);
      deps.claimFolder?.();
      // SQLite would copy the log of a deleted database into this one.
      removeDatabase(path);
      renameSync(part, path);
      flushToDisk(data);
    } finally {
      removeDatabase(part);
    }
    return manifest;
  } finally {
    lock.release();
  }
}

/**
 * Creates a database with the chain of a snapshot and checks it. Nothing else is copied: the author of the snapshot could
 * have planted webhooks, a known token or triggers.
 *
 * @throws {ArchiveError} with any code but ARCHIVE_EXISTS
 */
export async function extractChain(
  folder: string,
  manifest: Manifest,
  to: string,
  deps: RestoreDeps,
): Promise<void> {
  const unpacked = `${to}.unpacked`;
  try {
    // A killed restore may have left a database.
    removeDatabase(to);
    await unpackDatabase(folder, manifest, unpacked, (done) => deps.onProgress("unpacking", done));
    await withoutSignalHandlers(() => copyChain(unpacked, to));
    removeDatabase(unpacked);
    await checkAgainst(manifest, to, deps);
    await buildFacts(to, manifest, deps.network, (part) =>
      deps.onProgress("building the Merkle tree of facts", part),
    );
  } catch (error) {
    throw isLocalFailure(error) ? error : toArchiveError(error);
  } finally {
    removeDatabase(unpacked);
  }
}

/** Returns true if this machine failed, for example with a full disk, and not the snapshot. */
const isLocalFailure = (error: unknown): boolean =>
  /^(E(?!RR_)[A-Z0-9]+$|SQLITE_(FULL|IOERR|CANTOPEN|READONLY|NOMEM|BUSY))/.test(
    String((error as NodeJS.ErrnoException).code),
  );

/** Converts the error of a file that has the right hash, but is no database, or has values that cannot be decoded. */
const toArchiveError = (error: unknown): ArchiveError =>
  error instanceof ArchiveError
    ? error
    : new ArchiveError("ARCHIVE_DAMAGED", `the snapshot cannot be read: ${(error as Error).message}`, {
        cause: error,
      });

async function checkAgainst(manifest: Manifest, path: string, deps: RestoreDeps): Promise<void> {
  const database = openReader(path);
  try {
    const onPart = (done: number) => deps.onProgress("checking blocks", done);
    const { head, transactions } = await checkChain(database, { ...deps, onPart });
    const isDescribed =
      head.height === manifest.head.height &&
      head.id === manifest.head.id &&
      transactions === manifest.transactions &&
      stateDigest(database) === manifest.state;
    if (!isDescribed) {
      throw new ArchiveError("ARCHIVE_DAMAGED", "the manifest does not match the database of the snapshot");
    }
  } finally {
    database.close();
  }
}

const removeDatabase = (path: string) => {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(path + suffix, { force: true });
};

/**
 * Decompresses the database of a snapshot, flushes it to disk, and verifies its hash.
 *
 * @param onPart called with the written fraction: 0 to 1
 * @throws {ArchiveError} ARCHIVE_MISSING, ARCHIVE_DAMAGED, ARCHIVE_TOO_LARGE; the file is removed after an error
 */
async function unpackDatabase(
  folder: string,
  { database: { file, bytes, sha256 } }: Manifest,
  to: string,
  onPart: (part: number) => void,
): Promise<void> {
  const from = join(folder, file);
  // Reading a pipe would never end.
  if (!statSync(from, { throwIfNoEntry: false })?.isFile())
    throw new ArchiveError("ARCHIVE_MISSING", `${from} is missing, or not a file`);
  const damaged = (reason: string, cause?: unknown) =>
    new ArchiveError("ARCHIVE_DAMAGED", `${from} ${reason}; get another copy of the snapshot`, { cause });
  checkRoom(bytes, dirname(to));
  const hash = createHash("sha256");
  let written = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      written += chunk.length;
      hash.update(chunk);
      onPart(Math.min(written / bytes, 1));
      // A few compressed bytes can expand to more than the disk holds.
      if (written > bytes) done(damaged(`is larger than the ${bytes} bytes that its manifest states`));
      else done(null, chunk);
    },
  });
  try {
    await pipeline(
      createReadStream(from, { highWaterMark: 1 << 20 }),
      createZstdDecompress(),
      counter,
      createWriteStream(to, { flush: true }),
    );
    if (hash.digest("hex") !== sha256) throw damaged("does not match the SHA-256 in its manifest");
  } catch (error) {
    rmSync(to, { force: true });
    if (error instanceof ArchiveError || !isCompressionError(error)) throw error;
    throw damaged("cannot be decompressed", error);
  }
}

/** Checks the free space for the decompressed database and for the copy of its chain. */
function checkRoom(bytes: number, folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const [needed, free] = [2 * bytes, bavail * bsize];
  if (needed <= free) return;
  throw tooLarge(`${folder} has ${free} free bytes, ${needed} are needed`);
}

export const tooLarge = (reason: string, options?: ErrorOptions): ArchiveError =>
  new ArchiveError(
    "ARCHIVE_TOO_LARGE",
    `not enough space: ${reason}; free some space, or choose another disk: "snapshot create" uses the folder of --output, ` +
      '"snapshot restore" that of --data, "snapshot verify" that of the environment variable TMPDIR',
    options,
  );

const isCompressionError = (error: unknown): boolean =>
  /^Z(STD)?_/.test(String((error as NodeJS.ErrnoException).code));
