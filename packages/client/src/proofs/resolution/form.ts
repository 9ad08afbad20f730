/** The form of a resolution (facts.md 11). A unik has as many properties as the chain allows: they have no bound of their own. */
import type { PropertyPage, UnikResolution } from "../../api/resources/uniks.ts";
import { isId, isIntegerIn, isRecord } from "../values.ts";
import { refuseUnless } from "./verdict.ts";

/** A key has 256 bits. */
const MAX_SIBLINGS = 256;
/** A tree has fewer than 2^53 leaves. */
const MAX_PROOF = 53;
const MAX_NOTE = 65_536;

/** Names and values of properties. */
export type Properties = Readonly<Record<string, string>>;

/** @throws {Refusal} FORM */
export function readResolution(value: unknown): UnikResolution {
  refuseUnless(isRecord(value) && isId(value.id), "FORM", 'members are missing, or "id" is none');
  refuseUnless(value.unik === null || isUnik(value.unik), "FORM", '"unik" has another form');
  refuseUnless(Array.isArray(value.pages) && value.pages.every(isPage), "FORM", '"pages" has another form');
  refuseUnless(isPath(value.path), "FORM", '"path" has another form');
  refuseUnless(isMap(value.map), "FORM", '"map" has another form');
  refuseUnless(isLeaf(value.leaf), "FORM", '"leaf" has another form');
  const { checkpoint } = value;
  refuseUnless(
    isRecord(checkpoint) && typeof checkpoint.note === "string" && checkpoint.note.length <= MAX_NOTE,
    "FORM",
    '"checkpoint" has no note',
  );
  return value as unknown as UnikResolution;
}

const isText = (value: unknown): value is string => typeof value === "string";
const isCount = (value: unknown): boolean => isIntegerIn(value, 0, Number.MAX_SAFE_INTEGER);

const isProperties = (value: unknown): value is Properties =>
  isRecord(value) && Object.values(value).every(isText);

const isUnik = (value: unknown): boolean => isRecord(value) && isText(value.owner) && isId(value.properties);

const isPage = (value: unknown): value is PropertyPage =>
  isRecord(value) && isId(value.from) && isSiblings(value.siblings) && isProperties(value.properties);

const isSiblings = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length <= MAX_SIBLINGS &&
  value.every((sibling) => sibling === null || isId(sibling));

function isPath(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { siblings, end } = value;
  const isEnd = end === null || (isRecord(end) && isId(end.key) && isId(end.value));
  return isEnd && isSiblings(siblings);
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
