/** The form of a resolution (facts.md 11), and its bounds: nothing larger is hashed. */
import type { UnikResolution } from "../../api/resources/uniks.ts";
import { isId, isIntegerIn, isRecord } from "../values.ts";
import { refuseUnless } from "./verdict.ts";

/** A key has 256 bits. */
const MAX_SIBLINGS = 256;
/** A tree has fewer than 2^53 leaves. */
const MAX_PROOF = 53;
const MAX_PROPERTIES = 100_000;
const MAX_TEXT = 1_024;
const MAX_NOTE = 65_536;

/** @throws {Refusal} FORM */
export function readResolution(value: unknown): UnikResolution {
  refuseUnless(isRecord(value) && isId(value.id), "FORM", 'members are missing, or "id" is none');
  refuseUnless(value.unik === null || isUnik(value.unik), "FORM", '"unik" has another form');
  refuseUnless(isPath(value.path), "FORM", '"path" has another form');
  refuseUnless(isMap(value.map), "FORM", '"map" has another form');
  refuseUnless(isLeaf(value.leaf), "FORM", '"leaf" has another form');
  const { checkpoint } = value;
  refuseUnless(
    isRecord(checkpoint) && typeof checkpoint.note === "string" && checkpoint.note.length <= MAX_NOTE,
    "FORM",
    '"checkpoint" has no note',
  );
  return value as UnikResolution;
}

const isText = (value: unknown): value is string => typeof value === "string" && value.length <= MAX_TEXT;
const isCount = (value: unknown): boolean => isIntegerIn(value, 0, Number.MAX_SAFE_INTEGER);

function isUnik(value: unknown): boolean {
  if (!isRecord(value) || !isText(value.owner) || !isRecord(value.properties)) return false;
  const values = Object.entries(value.properties);
  return values.length <= MAX_PROPERTIES && values.every(([name, text]) => isText(name) && isText(text));
}

function isPath(value: unknown): boolean {
  if (!isRecord(value) || !Array.isArray(value.siblings) || value.siblings.length > MAX_SIBLINGS)
    return false;
  const { siblings, end } = value;
  const isEnd = end === null || (isRecord(end) && isId(end.key) && isId(end.value));
  return isEnd && siblings.every((sibling) => sibling === null || isId(sibling));
}

const isMap = (value: unknown): boolean =>
  isRecord(value) &&
  [value.height, value.round, value.uniks].every(isCount) &&
  typeof value.blockId === "string" &&
  /^[0-9a-f]{1,64}$/.test(value.blockId) &&
  isId(value.root);

/** Returns true for an inclusion proof. */
export const isProof = (value: unknown): boolean =>
  Array.isArray(value) && value.length <= MAX_PROOF && value.every(isId);

const isLeaf = (value: unknown): boolean =>
  isRecord(value) && isCount(value.index) && isCount(value.indexInBlock) && isProof(value.proof);
