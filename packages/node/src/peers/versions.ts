/** Versions of software and ranges of them, as old nodes read them (p2p.md 10.5): by node-semver before its release 7.2. */
// One by one: its entry loads all that it can do.
import Range from "semver/classes/range.js";
import type SemVer from "semver/classes/semver.js";
import compare from "semver/functions/compare.js";
import parse from "semver/functions/parse.js";

/** Ranges come from clients too, and the time that the library takes grows with the square of their length. */
const MAX_RANGE_LENGTH = 256;

export type Version = SemVer;

/** Undefined for what is no version. */
export const parseVersion = (text: string): Version | undefined => parse(text) ?? undefined;

/** Negative if `a` comes before `b`: a pre-release comes before its release. */
export const compareVersions = (a: Version, b: Version): number => compare(a, b);

/** How pre-releases belong to a range. */
export type RangeOptions = {
  /** They belong wherever they are in order, and need not be named. */
  includesPreReleases?: boolean;
};

/** Undefined for what is no range, and for more than 256 characters. */
export function parseRange(text: string, options: RangeOptions = {}): Range | undefined {
  const { includesPreReleases = false } = options;
  if (text.length > MAX_RANGE_LENGTH) return undefined;
  try {
    // The library would search the end of a run of blanks from each blank.
    return new Range(text.trim().replace(/\s+/g, " "), { includePrerelease: includesPreReleases });
  } catch {
    return undefined;
  }
}
