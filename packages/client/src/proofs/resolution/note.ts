/** Signed checkpoints of trees of facts (facts.md 4; C2SP signed-note and tlog-cosignature). */
import { bytesToHex, sha256 } from "@uniknode/protocol";
import { verifyEd25519 } from "@uniknode/protocol/ed25519";
import { argumentError } from "../../api/request.ts";
import { isIntegerIn } from "../values.ts";
import { refuseUnless } from "./verdict.ts";

export type Note = {
  /** Name of the log, which contains the nethash. */
  readonly origin: string;
  readonly size: number;
  /** Hexadecimal. */
  readonly root: string;
  /** The last block of the tree. */
  readonly height: number;
  /** The signed text. */
  readonly text: string;
  readonly signatures: readonly { readonly name: string; readonly bytes: Uint8Array }[];
};

const MAX_SIGNATURES = 64;
const FORM =
  /^(uniknode-facts-v3\/[0-9a-f]{64})\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\nblock ([1-9]\d{0,15}) [0-9a-f]+\n$/;
const SIGNATURE = /^\u2014 (\S{1,256}) ([A-Za-z0-9+/]{1,256}={0,2})$/;

/** @throws {Refusal} NOTE */
export function readNote(note: string): Note {
  const end = note.indexOf("\n\n");
  const [text, lines] = [note.slice(0, end + 1), note.slice(end + 2).split("\n")];
  const [, origin, size, root, height] = FORM.exec(text) ?? [];
  refuseUnless(
    origin !== undefined && root !== undefined && lines.pop() === "" && lines.length <= MAX_SIGNATURES,
    "NOTE",
    "the note is not a checkpoint of a tree of facts, version 3",
  );
  const signatures = lines.map((line) => {
    const [, name, base64] = SIGNATURE.exec(line) ?? [];
    refuseUnless(name !== undefined && base64 !== undefined, "NOTE", "a line is not a signature");
    return { name, bytes: fromBase64(base64) };
  });
  refuseUnless(
    isIntegerIn(Number(size), 1, Number.MAX_SAFE_INTEGER) &&
      isIntegerIn(Number(height), 1, Number.MAX_SAFE_INTEGER),
    "NOTE",
    "the tree of the note is empty",
  );
  return {
    origin,
    size: Number(size),
    root: bytesToHex(fromBase64(root)),
    height: Number(height),
    text,
    signatures,
  };
}

/** Identifiers of algorithms: a signature of the log, and a cosignature of a witness with its time. */
const LOG = 1;
const WITNESS = 4;
const HASH_BYTES = 4;
/** Base64 of the algorithm and the key, at the end. */
const KEY_CHARS = 44;
const TIME_BYTES = 8;
const KEY_FORM = /^(\S{1,256})\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/;

/**
 * Returns those of the keys that have signed a note.
 *
 * @param keys in the format NAME+HASH+KEY: `verifierKey` of a checkpoint, or the key that a witness prints
 * @throws {TypeError} for a malformed key
 */
export const signersOf = (note: Note, keys: readonly string[]): string[] =>
  [...new Set(keys)].filter((key) => hasSigned(note, key));

/** Returns the number of different keys: a key counts once, whatever its names. */
export const countKeys = (keys: Iterable<string>): number =>
  new Set([...keys].map((key) => bytesToHex(fromBase64(key.slice(-KEY_CHARS)).subarray(1)))).size;

function hasSigned(note: Note, key: string): boolean {
  const [, name, digits, base64] = KEY_FORM.exec(key) ?? [];
  if (name === undefined || base64 === undefined)
    throw argumentError(`not a key of a node or a witness: ${key}`);
  const [algorithm, ...bytes] = fromBase64(base64);
  const hash = bytesToHex(
    sha256(Uint8Array.of(...new TextEncoder().encode(`${name}\n`), algorithm ?? 0, ...bytes)),
  ).slice(0, 2 * HASH_BYTES);
  if (hash !== digits || (algorithm !== LOG && algorithm !== WITNESS))
    throw argumentError(`the key does not match its own hash, or is of another kind: ${key}`);
  // A log signs with its own name, so that a key of another network does not count.
  if (algorithm === LOG && name !== note.origin) return false;
  const publicKey = Uint8Array.from(bytes);
  return note.signatures.some(
    (signature) =>
      signature.name === name &&
      bytesToHex(signature.bytes.subarray(0, HASH_BYTES)) === digits &&
      isValid(signature.bytes.subarray(HASH_BYTES), { note, publicKey, algorithm }),
  );
}

function isValid(
  bytes: Uint8Array,
  { note, publicKey, algorithm }: { note: Note; publicKey: Uint8Array; algorithm: number },
): boolean {
  const encode = (text: string) => new TextEncoder().encode(text);
  if (algorithm === LOG) return verifyEd25519(bytes, encode(note.text), publicKey);
  const time = bytes.subarray(0, TIME_BYTES);
  const seconds = time.length === TIME_BYTES ? new DataView(time.slice().buffer).getBigUint64(0) : 0n;
  const message = encode(`cosignature/v1\ntime ${seconds}\n${note.text}`);
  return verifyEd25519(bytes.subarray(TIME_BYTES), message, publicKey);
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
