/** Verifies resolutions of uniks, with keys of nodes and witnesses as the only trusted data (facts.md 11). */
import { bytesToHex, canonicalJson, hexToBytes, sha256 } from "@uniknode/protocol";
import type { UnikResolution } from "../../api/resources/uniks.ts";
import { Refusal, refusedVerdict } from "../refusal.ts";
import { isProof, readResolution } from "./form.ts";
import { agree, rootOfLeaf, rootOfMap, textHash } from "./merkle.ts";
import { countKeys, type Note, readNote, signersOf } from "./note.ts";
import { digestOf, FIRST, hasDigest, LIFE_CYCLE, nextOf, provenProperties, TYPE } from "./pages.ts";
import { type ResolutionVerdict, type ResolvedUnik, refuseUnless } from "./verdict.ts";

export type ResolutionOptions = {
  /** Id of the requested unik: the resolution of another one is refused. */
  readonly id: string;
  /** Keys of nodes and witnesses, in the format NAME+HASH+KEY. */
  readonly keys: string | readonly string[];
  /** Number of these keys that must have signed a checkpoint with the root of the map. Default: 1. */
  readonly minSigners?: number;
  /** Checkpoints of witnesses and other nodes; a checkpoint counts if its tree has the root of the map. */
  readonly witnessed?: readonly WitnessedCheckpoint[];
  /** Lowest height of the map: a node could return an earlier state. Default: 1. */
  readonly minHeight?: number;
  /** Names of properties that the resolution must show, or show to be absent. If absent, it must show those from `from` on. */
  readonly properties?: readonly string[];
  /** Digest from which the properties must begin. Default: 0, the first one. */
  readonly from?: string;
};

/** A checkpoint, and the inclusion proof of the leaf with the root of the map in its tree (RFC 6962). */
export type WitnessedCheckpoint = { readonly note: string; readonly proof: readonly string[] };

/**
 * Verifies the `data` of a resolution. Every fault of the resolution is a verdict.
 *
 * @throws {TypeError} for malformed keys
 */
export function verifyResolution(resolution: unknown, options: ResolutionOptions): ResolutionVerdict {
  try {
    return verify(readResolution(resolution), options);
  } catch (error) {
    return refusedVerdict(error);
  }
}

function verify(resolution: UnikResolution, options: ResolutionOptions): ResolutionVerdict {
  const { id, keys, minSigners = 1, minHeight = 1, witnessed = [] } = options;
  const { map, checkpoint } = resolution;
  const unik = id.toLowerCase();
  refuseUnless(resolution.id === unik, "ID", `the resolution is of ${resolution.id}`);
  const note = readNote(checkpoint.note);
  const signers = new Set(signersOf(note, [keys].flat()));
  for (const other of witnessed.flatMap((each) => witnessOf(each, resolution, note))) {
    for (const key of signersOf(other, [keys].flat())) signers.add(key);
  }
  const count = countKeys(signers);
  refuseUnless(
    count >= minSigners,
    "SIGNATURE",
    `${count} of the keys have signed a checkpoint with this state, ${minSigners} must`,
  );
  refuseUnless(
    map.height >= minHeight && map.height <= note.height,
    "AGE",
    `the map is of height ${map.height}, the checkpoint of ${note.height}`,
  );
  refuseUnless(
    rootOfLeaf(leafText(resolution), { ...resolution.leaf, size: note.size }) === note.root,
    "INCLUSION",
    "the checkpoint does not contain the root of the map",
  );
  checkPath(resolution);
  const { size, root, height } = note;
  return {
    verdict: "proven",
    unik: resolution.unik && describe(resolution.unik, resolution.pages, options),
    height: map.height,
    signers: [...signers],
    checkpoint: { size, root, height },
  };
}

/** Returns the note of a checkpoint of the same log that contains the leaf; nothing for any other one. */
function witnessOf(
  { note: text, proof }: WitnessedCheckpoint,
  resolution: UnikResolution,
  own: Note,
): Note[] {
  try {
    const note = readNote(text);
    const root =
      isProof(proof) && rootOfLeaf(leafText(resolution), { ...resolution.leaf, proof, size: note.size });
    return note.origin === own.origin && root === note.root ? [note] : [];
  } catch (error) {
    // It does not count. It is not part of the resolution, and does not make it false.
    if (error instanceof Refusal) return [];
    throw error;
  }
}

/** The leaf of the tree of facts (facts.md 1 and 2); its content is canonical JSON. */
function leafText({ map, leaf }: UnikResolution): string {
  const id = `uniks.root:${map.blockId}:${map.round}`;
  const content = `{"data":{"root":"${map.root}","uniks":${map.uniks}},"id":"${id}"}`;
  return `${map.height}|${leaf.indexInBlock}|uniks.root|${bytesToHex(textHash(content))}`;
}

/** @throws {Refusal} PATH, VALUE */
function checkPath({ id, unik, path, map }: UnikResolution): void {
  const { siblings, end } = path;
  const key = bytesToHex(sha256(hexToBytes(id)));
  refuseUnless(
    rootOfMap(key, end, siblings) === map.root,
    "PATH",
    "the path does not lead to the root of the map",
  );
  if (unik) {
    const value = bytesToHex(textHash(canonicalJson({ owner: unik.owner, properties: unik.properties })));
    refuseUnless(end?.key === key && end.value === value, "VALUE", "the path does not end with this value");
  } else {
    const isAbsent = end === null || (end.key !== key && agree(end.key, key, siblings.length));
    refuseUnless(isAbsent, "VALUE", "the path does not show that the unik is absent");
  }
}

const ABORTED = "4";

/** @throws {Refusal} PROPERTIES */
function describe(
  { owner, properties: root }: NonNullable<UnikResolution["unik"]>,
  pages: UnikResolution["pages"],
  { properties: names, from = FIRST }: Pick<ResolutionOptions, "properties" | "from">,
): ResolvedUnik {
  const next = nextOf(pages, from);
  const shown = provenProperties(pages, root);
  const values = new Map(Object.entries(shown));
  const missing = [TYPE, LIFE_CYCLE, ...(names ?? [])].find((name) => !hasDigest(pages, digestOf(name)));
  refuseUnless(missing === undefined, "PROPERTIES", `the resolution does not show the property ${missing}`);
  refuseUnless(names !== undefined || next !== from, "PROPERTIES", `the resolution has no page from ${from}`);
  return {
    owner,
    type: values.get(TYPE),
    properties: names ? Object.fromEntries([...values].filter(([name]) => names.includes(name))) : shown,
    revoked: values.get(LIFE_CYCLE) === ABORTED,
    next: names ? null : next,
    root,
  };
}
