/**
 * Stores the signing record in a file outside the data folder: a data folder restored from a backup lacks the newest
 * signatures, the file has them. Only one process at a time can open it. Its text is a line with format and version, then a
 * line for each signing, which is `NETHASH PUBLIC_KEY SLOT HEIGHT BLOCK_ID CHECKSUM`. If a key has several lines for one network,
 * the highest slot counts.
 */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { crc32 } from "node:zlib";
import { CodedError } from "../../platform/coded-error.ts";
import { makeFolder } from "../../platform/files/folder.ts";
import { flushToDisk } from "../../platform/files/whole-file.ts";
import { lockFile } from "../../store/engine/folder-lock.ts";
import { lockHolderText, readLockHolder } from "../../store/engine/lock-holder.ts";
import type { Signing, SigningRecord } from "./guard.ts";

export type SigningRecordErrorCode =
  | "SIGNING_RECORD_IN_USE"
  | "SIGNING_RECORD_DAMAGED"
  | "SIGNING_RECORD_UNUSABLE";

/** The record cannot be used, so no slot is signed. The message names the remedy. */
export class SigningRecordError extends CodedError<SigningRecordErrorCode> {
  readonly path: string;

  constructor(code: SigningRecordErrorCode, path: string, message: string, options?: ErrorOptions) {
    super(code, message, { isRetryable: code !== "SIGNING_RECORD_DAMAGED", ...options });
    this.path = path;
  }
}

export type SigningFileDeps = {
  /** Nethash of the network to sign for; entries of other networks are preserved. */
  readonly nethash: string;
  /** Signings stored in the data folder, used if they are later than the record. */
  readonly known: readonly Signing[];
  /** Called with each signing that is on disk. */
  readonly onAdded?: (signing: Signing) => void;
};

const OWNER_ONLY = 0o600;
/** Maximum size of a record to read: about ten thousand signings. This program never writes a longer file. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Number of lines to append before the file is rewritten without obsolete entries. */
const MAX_APPENDED = 1_000;

/**
 * A record that is locked for this process. The operating system releases the lock when the process ends, even by a
 * crash.
 */
export class SigningFile implements SigningRecord {
  /** Absolute, symbolic links followed. */
  readonly path: string;
  /** True if there was no record before. */
  readonly isNew: boolean;
  readonly #deps: SigningFileDeps;
  readonly #release: () => void;
  readonly #entries = new Map<string, SigningEntry>();
  #file: LineFile | undefined;
  /** Lines that were appended to the file. */
  #appended = 0;
  /** True if the file on disk is known to be what this process has written. */
  #isSound = true;

  /**
   * Creates the record if it is missing.
   *
   * @throws {SigningRecordError}
   */
  constructor(given: string, deps: SigningFileDeps) {
    this.path = existsSync(given) ? realpathSync(given) : resolve(given);
    this.#deps = deps;
    this.#release = takeLock(this.path);
    try {
      this.isNew = !existsSync(this.path);
      for (const entry of this.isNew ? [] : readRecord(this.path)) this.#keepHighest(entry);
      for (const signing of deps.known) this.#keepHighest({ ...signing, nethash: deps.nethash });
      this.#writeAnew();
    } catch (error) {
      this.#release();
      throw error instanceof SigningRecordError ? error : unusable(this.path, error);
    }
  }

  lastSigned(publicKey: string): Signing | undefined {
    return this.#entries.get(keyOf({ nethash: this.#deps.nethash, publicKey }));
  }

  /** @throws {SigningRecordError} */
  add(signing: Signing): void {
    const entry = { ...signing, nethash: this.#deps.nethash };
    // Before the write: even if it fails, the slot is not signed again.
    this.#keepHighest(entry);
    try {
      const file = this.#isSound && this.#appended < MAX_APPENDED ? this.#file : undefined;
      const canAppend = file && isInPlace(this.path, file);
      this.#isSound = false;
      if (canAppend) {
        appendLine(file, entryLine(entry));
        this.#appended++;
      } else this.#writeAnew();
      this.#isSound = true;
    } catch (error) {
      throw unusable(this.path, error);
    }
    this.#deps.onAdded?.(signing);
  }

  /** Releases the record. */
  close(): void {
    if (this.#file) closeSync(this.#file.descriptor);
    this.#file = undefined;
    this.#release();
  }

  #keepHighest(entry: SigningEntry): void {
    const last = this.#entries.get(keyOf(entry));
    if (last === undefined || last.slot < entry.slot) this.#entries.set(keyOf(entry), entry);
  }

  #writeAnew(): void {
    const next = writeFile(this.path, this.#entries);
    if (this.#file) closeSync(this.#file.descriptor);
    this.#file = next;
    this.#appended = 0;
  }
}

function takeLock(path: string): () => void {
  const lockPath = `${path}.lock`;
  let release: (() => void) | undefined;
  try {
    makeFolder(dirname(path), { what: "the folder of the signing record", flag: "--signing-record" });
    release = lockFile(lockPath);
  } catch (error) {
    throw unusable(path, error);
  }
  if (release) return release;
  throw new SigningRecordError(
    "SIGNING_RECORD_IN_USE",
    path,
    `the signing record ${path} is in use by another uniknode that forges${lockHolderText(readLockHolder(lockPath))}; ` +
      "stop that one first, or name another with --signing-record if this node has other delegates",
  );
}

/** @throws {SigningRecordError} */
function readRecord(path: string): SigningEntry[] {
  try {
    if (statSync(path).size > MAX_BYTES) throw new Error(`the file is larger than ${MAX_BYTES} bytes`);
    return readEntries(readFileSync(path, "latin1"));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== undefined) throw cause;
    throw new SigningRecordError(
      "SIGNING_RECORD_DAMAGED",
      path,
      `the signing record ${path} is damaged (${(cause as Error).message}): not forging, because slots could be ` +
        "signed twice. Make sure that the clock is right and that no other node has these keys, wait until the " +
        "slot of the last block that they signed is over, then move the file away: it is created from the data folder",
      { cause },
    );
  }
}

function unusable(path: string, cause: unknown): SigningRecordError {
  const isForeign = ["EACCES", "EPERM"].includes((cause as NodeJS.ErrnoException).code ?? "");
  // Another file would be empty: the protection against a second block for a slot would be lost.
  const remedy = !existsSync(path)
    ? "its folder must be writable; or choose another file with --signing-record"
    : isForeign
      ? "give it to the user of the node, with chown"
      : "it must be a file that the node can write";
  const reason = cause instanceof Error ? cause.message : String(cause);
  const text = `the signing record ${path} cannot be used: ${reason}; ${remedy}`;
  // Without its cause: a full disk would be reported as that of the database.
  return new SigningRecordError("SIGNING_RECORD_UNUSABLE", path, text);
}

const keyOf = ({ nethash, publicKey }: Pick<SigningEntry, "nethash" | "publicKey">) =>
  `${nethash} ${publicKey}`;

type LineFile = { readonly descriptor: number; byteLength: number };

/** Replaces the file. It is the old or the new one after a crash at any moment. */
function writeFile(path: string, entries: ReadonlyMap<string, SigningEntry>): LineFile {
  const text = FIRST_LINE + [...entries.values()].map(entryLine).join("");
  const descriptor = openSync(`${path}.part`, "w", OWNER_ONLY);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
    renameSync(`${path}.part`, path);
    flushToDisk(dirname(path));
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return { descriptor, byteLength: text.length };
}

/** Returns false if the file was moved away, or replaced by a copy. */
function isInPlace(path: string, { descriptor, byteLength }: LineFile): boolean {
  const { ino, size } = fstatSync(descriptor);
  return statSync(path, { throwIfNoEntry: false })?.ino === ino && size === byteLength;
}

function appendLine(file: LineFile, line: string): void {
  const bytes = Buffer.from(line);
  // Writing the rest of the line gives the reason, for example a full disk.
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(file.descriptor, bytes, done, bytes.length - done, file.byteLength + done);
  }
  fdatasyncSync(file.descriptor);
  file.byteLength += line.length;
}

type SigningEntry = Signing & { readonly nethash: string };

const FORMAT = "uniknode-signing-record";
const FIRST_LINE = `${FORMAT} 1\n`;

const ENTRY = /^(([0-9a-f]{64}) ([0-9a-f]{66}) (\d{1,10}) (\d{1,10}) (\d{1,20}|[0-9a-f]{64})) ([0-9a-f]{8})$/;

const checksumOf = (text: string): string => crc32(text).toString(16).padStart(8, "0");

function entryLine({ nethash, publicKey, slot, height, blockId }: SigningEntry): string {
  const text = `${nethash} ${publicKey} ${slot} ${height} ${blockId}`;
  return `${text} ${checksumOf(text)}\n`;
}

function readEntry(line: string): SigningEntry | undefined {
  const match = ENTRY.exec(line);
  if (!match) return undefined;
  const [, text = "", nethash = "", publicKey = "", slot, height, blockId = "", checksum] = match;
  if (checksumOf(text) !== checksum) return undefined;
  return { nethash, publicKey, slot: Number(slot), height: Number(height), blockId };
}

/**
 * Reads a record. A crash while writing leaves an incomplete last line: its block was never sent, and
 * it does not count.
 *
 * @throws {Error} that names the line, if anything else is wrong
 */
function readEntries(content: string): SigningEntry[] {
  if (!content.startsWith(FIRST_LINE)) {
    const isOther = content.startsWith(`${FORMAT} `);
    throw new Error(isOther ? "unsupported version" : "line 1 is not the header of a signing record");
  }
  const lines = content.slice(FIRST_LINE.length).split("\n");
  return lines.flatMap((line, index) => {
    const entry = readEntry(line);
    if (entry) return [entry];
    // After a power failure, file blocks that were not written to the disk are zeros, even within a line.
    const isLast = index === lines.length - 1 || (index === lines.length - 2 && lines.at(-1) === "");
    const isTorn = isLast && (index === lines.length - 1 || line.includes("\0"));
    if (!isTorn) throw new Error(`line ${index + 2} is damaged`);
    return [];
  });
}
