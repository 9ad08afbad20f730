/** Decompresses the database of a snapshot, and verifies its hash. */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, existsSync, rmSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { ArchiveError } from "./error.ts";
import type { Manifest } from "./manifest.ts";

/**
 * Writes the file and flushes it to disk.
 *
 * @param onPart called with the written fraction: 0 to 1
 * @throws {ArchiveError} ARCHIVE_MISSING, ARCHIVE_DAMAGED, ARCHIVE_TOO_LARGE; the file is removed after an error
 */
export async function unpackDatabase(
  folder: string,
  { database: { file, bytes, sha256 } }: Manifest,
  to: string,
  onPart: (part: number) => void,
): Promise<void> {
  const from = join(folder, file);
  if (!existsSync(from)) throw new ArchiveError("ARCHIVE_MISSING", `${from} is missing`);
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
  throw new ArchiveError(
    "ARCHIVE_TOO_LARGE",
    `not enough space: ${folder} has ${free} free bytes, ${needed} are needed; free some space, or choose another folder`,
  );
}

const isCompressionError = (error: unknown): boolean =>
  /^Z(STD)?_/.test(String((error as NodeJS.ErrnoException).code));
