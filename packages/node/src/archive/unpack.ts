/** From the compressed database of a snapshot to a file, proved to be the one that was compressed. */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, existsSync, rmSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { ArchiveError } from "./error.ts";
import type { Manifest } from "./manifest.ts";

/**
 * Writes the file and waits until it is on disk.
 *
 * @param onPart hears the part that is written: 0 to 1
 * @throws {ArchiveError} ARCHIVE_MISSING, ARCHIVE_DAMAGED, ARCHIVE_TOO_LARGE; nothing stays after an error
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
  const watch = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      written += chunk.length;
      hash.update(chunk);
      onPart(Math.min(written / bytes, 1));
      // A few bytes can unpack to more than any disk has.
      if (written > bytes) done(damaged(`is more than the ${bytes} bytes of its manifest`));
      else done(null, chunk);
    },
  });
  try {
    await pipeline(
      createReadStream(from, { highWaterMark: 1 << 20 }),
      createZstdDecompress(),
      watch,
      createWriteStream(to, { flush: true }),
    );
    if (hash.digest("hex") !== sha256) throw damaged("is not what its manifest says");
  } catch (error) {
    rmSync(to, { force: true });
    if (error instanceof ArchiveError || !isOfCompression(error)) throw error;
    throw damaged("cannot be unpacked", error);
  }
}

/** The unpacked database and the one that is made of it. */
function checkRoom(bytes: number, folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const [needed, free] = [2 * bytes, bavail * bsize];
  if (needed <= free) return;
  throw new ArchiveError(
    "ARCHIVE_TOO_LARGE",
    `${folder} has ${free} bytes left, and ${needed} are needed: make room, or choose another folder`,
  );
}

const isOfCompression = (error: unknown): boolean =>
  /^Z(STD)?_/.test(String((error as NodeJS.ErrnoException).code));
