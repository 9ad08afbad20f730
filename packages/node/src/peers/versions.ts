/** Versions of software and ranges of them, by the rules of Semantic Versioning as node-semver 7 reads ranges. */

/** Numbers of a release, and the identifiers of a pre-release. */
export type Version = { readonly numbers: Numbers; readonly preRelease: readonly (number | string)[] };
type Numbers = readonly [major: number, minor: number, patch: number];

/** Whether a version belongs to a range. */
export type VersionRange = (version: Version) => boolean;

const IDENTIFIERS = "[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*";
const VERSION = new RegExp(
  `^[v=\\s]*(\\d{1,15})\\.(\\d{1,15})\\.(\\d{1,15})(?:-(${IDENTIFIERS}))?(?:\\+${IDENTIFIERS})?$`,
);

/** Undefined for what is no version. */
export function parseVersion(text: string): Version | undefined {
  const [, major, minor, patch, preRelease] = VERSION.exec(text.trim()) ?? [];
  if (major === undefined) return undefined;
  return { numbers: [Number(major), Number(minor), Number(patch)], preRelease: identifiersOf(preRelease) };
}

const identifiersOf = (text: string | undefined): (number | string)[] =>
  text?.split(".").map((identifier) => (/^\d+$/.test(identifier) ? Number(identifier) : identifier)) ?? [];

/** Negative if `a` comes before `b`: a pre-release comes before its release. */
export function compareVersions(a: Version, b: Version): number {
  const byNumbers = compareNumbers(a.numbers, b.numbers);
  if (byNumbers !== 0) return byNumbers;
  if (a.preRelease.length === 0 || b.preRelease.length === 0) {
    return b.preRelease.length - a.preRelease.length;
  }
  for (let index = 0; index < Math.max(a.preRelease.length, b.preRelease.length); index++) {
    const difference = compareIdentifiers(a.preRelease[index], b.preRelease[index]);
    if (difference !== 0) return difference;
  }
  return 0;
}

const compareNumbers = (a: Numbers, b: Numbers): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];

/** Fewer identifiers come first, numbers before text. */
function compareIdentifiers(a: number | string | undefined, b: number | string | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return -1;
  if (b === undefined) return 1;
  if (typeof a === typeof b) return a < b ? -1 : 1;
  return typeof a === "number" ? -1 : 1;
}

/** A bound of a range: the sign that the comparison of a version with it must have. */
type Bound = { readonly operator: "<" | "<=" | ">" | ">=" | "="; readonly version: Version };

/** A version whose last numbers may be open. */
type Partial = {
  readonly given: readonly number[];
  readonly preRelease: readonly (number | string)[];
};

/** How pre-releases belong to a range. */
export type RangeOptions = {
  /** They belong wherever they are in order, and need not be named. */
  includesPreReleases?: boolean;
};

/** Undefined for what is no range. */
export function parseRange(text: string, options: RangeOptions = {}): VersionRange | undefined {
  const { includesPreReleases = false } = options;
  const alternatives: (readonly Bound[])[] = [];
  for (const part of text.split("||")) {
    const bounds = boundsOf(part.trim(), includesPreReleases ? LOWEST : RELEASE);
    if (!bounds) return undefined;
    alternatives.push(bounds);
  }
  return (version) => alternatives.some((bounds) => isWithin(version, bounds, includesPreReleases));
}

function isWithin(version: Version, bounds: readonly Bound[], includesPreReleases: boolean): boolean {
  if (!bounds.every((bound) => meets(version, bound))) return false;
  if (includesPreReleases) return true;
  // A pre-release is meant only by a bound that names one of the same release.
  return (
    version.preRelease.length === 0 ||
    bounds.some(
      (bound) =>
        bound.version.preRelease.length > 0 && compareNumbers(bound.version.numbers, version.numbers) === 0,
    )
  );
}

function meets(version: Version, { operator, version: bound }: Bound): boolean {
  const difference = compareVersions(version, bound);
  if (difference === 0) return operator.endsWith("=");
  return difference < 0 ? operator.startsWith("<") : operator.startsWith(">");
}

const PARTIAL = `[v=\\s]*(\\d{1,15}|[xX*])(?:\\.(\\d{1,15}|[xX*])(?:\\.(\\d{1,15}|[xX*])(?:-(${IDENTIFIERS}))?(?:\\+${IDENTIFIERS})?)?)?`;
const HYPHENATED = /^(\S+)\s+-\s+(\S+)$/;
const PLAIN = new RegExp(`^${PARTIAL}$`);
const SIMPLE = new RegExp(`^(<=|>=|<|>|=|~>|~|\\^|)${PARTIAL}$`);

type PreRelease = Version["preRelease"];
const RELEASE: PreRelease = [];
/** Before every other pre-release. */
const LOWEST: PreRelease = [0];

/**
 * All bounds of a range without alternatives.
 *
 * @param edge the pre-release at which versions with open numbers begin and end; `^`, `~` and ranges with a hyphen
 * begin and end at releases, so that the pre-releases of the release at their upper end belong to them
 */
function boundsOf(text: string, edge: PreRelease): Bound[] | undefined {
  const [, ...ends] = HYPHENATED.exec(text) ?? [];
  const [from, to] = ends.map((end) => PLAIN.exec(end)).map((parts) => parts && partialOf(parts.slice(1)));
  if (from && to) return [...expand(">=", from, RELEASE), ...expand("<=", to, RELEASE)];
  const bounds: Bound[] = [];
  // An operator may stand apart from its version.
  const comparators = text.replace(/(<=|>=|<|>|=|~>|~|\^)\s+/g, "$1").split(/\s+/);
  for (const comparator of comparators.filter((word) => word !== "")) {
    const [, operator = "", ...parts] = SIMPLE.exec(comparator) ?? [];
    const partial = parts.length > 0 ? partialOf(parts) : undefined;
    if (!partial) return undefined;
    bounds.push(...expand(operator, partial, /[~^]/.test(operator) ? RELEASE : edge));
  }
  return bounds;
}

/** What follows an open number means nothing. */
function partialOf(parts: readonly (string | undefined)[]): Partial {
  const isOpen = (part: string | undefined) => part === undefined || /^[xX*]$/.test(part);
  const numbers = parts.slice(0, 3);
  const open = numbers.findIndex(isOpen);
  const given = numbers.slice(0, open === -1 ? 3 : open).map(Number);
  return {
    given,
    preRelease: given.length === 3 ? identifiersOf(parts[3]) : [],
  };
}

/** The bounds that an operator and a version stand for. */
function expand(operator: string, { given, preRelease }: Partial, edge: PreRelease): Bound[] {
  const [major = 0, minor = 0, patch = 0] = given;
  const isFull = given.length === 3;
  const version: Version = { numbers: [major, minor, patch], preRelease: isFull ? preRelease : edge };
  const from: Bound = { operator: ">=", version };
  const below = (...numbers: Numbers): Bound => ({ operator: "<", version: { numbers, preRelease: edge } });
  const nextMajor = below(major + 1, 0, 0);
  // Beyond whatever the open numbers may be.
  const next = given.length < 2 ? nextMajor : below(major, minor + 1, 0);
  const nothing: Bound[] = [{ operator: "<", version: { numbers: [0, 0, 0], preRelease: LOWEST } }];

  switch (operator) {
    case "<":
      return given.length === 0 ? nothing : [{ operator, version }];
    case "<=":
      if (given.length === 0) return [];
      return [isFull ? { operator, version } : next];
    case ">":
      if (given.length === 0) return nothing;
      return [isFull ? { operator, version } : { ...next, operator: ">=" }];
    case ">=":
      return given.length === 0 ? [] : [from];
    case "~":
    case "~>":
      return given.length === 0 ? [] : [from, next];
    case "^":
      if (given.length === 0) return [];
      if (major > 0 || given.length === 1) return [from, nextMajor];
      return [from, minor > 0 || !isFull ? next : below(0, 0, patch + 1)];
    default:
      if (given.length === 0) return [];
      return isFull ? [{ operator: "=", version }] : [from, next];
  }
}
