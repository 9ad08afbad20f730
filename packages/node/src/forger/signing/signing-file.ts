/**
 * Stores the signing record in a file outside the data folder: a data folder restored from a backup lacks the newest
 * signatures, the file has them. Only one process at a time can open it.
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
import { CodedError } from "../../platform/coded-error.ts";
import { makeFolder } from "../../platform/files/folder.ts";
import { flushToDisk } from "../../platform/files/whole-file.ts";
import { lockFile } from "../../store/engine/folder-lock.ts";
import { lockHolderText, readLockHolder } from "../../store/engine/lock-holder.ts";
import { entryLine, FIRST_LINE, readEntries, type SigningEntry } from "./signing-lines.ts";
import type { Signing, SigningRecord } from "./signing-record.ts";

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
};

export type SigningFile = SigningRecord & {
  /** Absolute, symbolic links followed. */
  readonly path: string;
  /** True if there was no record before. */
  readonly isNew: boolean;
  /** Releases the record. */
  close(): void;
};

const OWNER_ONLY = 0o600;
/** Maximum size of a record to read: about ten thousand signings. This program never writes a longer file. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Number of lines to append before the file is rewritten without obsolete entries. */
const MAX_APPENDED = 1_000;

/**
 * Locks the record for this process, and creates it if it is missing. The operating system releases the lock when the
 * process ends, even by a crash.
 *
 * @throws {SigningRecordError}
 */
export function openSigningFile(given: string, { nethash, known }: SigningFileDeps): SigningFile {
  const path = existsSync(given) ? realpathSync(given) : resolve(given);
  const release = takeLock(path);
  try {
    const isNew = !existsSync(path);
    const entries = new Map<string, SigningEntry>();
    for (const entry of isNew ? [] : readRecord(path)) keepHighest(entries, entry);
    for (const signing of known) keepHighest(entries, { ...signing, nethash });
    const file = openFile(path, entries);
    return {
      path,
      isNew,
      lastSigned: (publicKey) => entries.get(keyOf({ nethash, publicKey })),
      add(signing) {
        const entry = { ...signing, nethash };
        // Before the write: even if it fails, the slot is not signed again.
        keepHighest(entries, entry);
        file.append(entry);
      },
      close() {
        file.close();
        release();
      },
    };
  } catch (error) {
    release();
    throw error instanceof SigningRecordError ? error : unusable(path, error);
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

const unusable = (path: string, cause: unknown) =>
  new SigningRecordError(
    "SIGNING_RECORD_UNUSABLE",
    path,
    `the signing record ${path} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}; its ` +
      "folder must be writable; or choose another file with --signing-record",
    { cause },
  );

const keyOf = ({ nethash, publicKey }: Pick<SigningEntry, "nethash" | "publicKey">) =>
  `${nethash} ${publicKey}`;

function keepHighest(entries: Map<string, SigningEntry>, entry: SigningEntry): void {
  const last = entries.get(keyOf(entry));
  if (last === undefined || last.slot < entry.slot) entries.set(keyOf(entry), entry);
}

/** Opens the file of the entries, which contains exactly these entries when this function returns. */
function openFile(path: string, entries: ReadonlyMap<string, SigningEntry>) {
  let file: LineFile | undefined = writeFile(path, entries);
  let appended = 0;
  /** True if the file on disk is known to be what this process has written. */
  let isSound = true;

  function writeAnew(): void {
    const next = writeFile(path, entries);
    if (file) closeSync(file.descriptor);
    file = next;
    appended = 0;
  }

  return {
    /** @throws {SigningRecordError} */
    append(entry: SigningEntry): void {
      try {
        const current =
          isSound && appended < MAX_APPENDED && file && isInPlace(path, file) ? file : undefined;
        isSound = false;
        if (current) {
          appendLine(current, entryLine(entry));
          appended++;
        } else writeAnew();
        isSound = true;
      } catch (error) {
        throw unusable(path, error);
      }
    },
    close() {
      if (file) closeSync(file.descriptor);
      file = undefined;
    },
  };
}

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
