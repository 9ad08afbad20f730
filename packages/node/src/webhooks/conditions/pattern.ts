/** Patterns of users: an engine without backtracking, so that no pattern can stop the node (webhooks.md 8, defect 6). */
import { RE2JS } from "re2js";
import type { Meter } from "./cost.ts";
import { OperandError } from "./error.ts";

const MAX_PATTERN_LENGTH = 512;
/** Longer texts match nothing. */
const MAX_SUBJECT_LENGTH = 4_096;
/** Instructions of a compiled pattern. */
const MAX_PROGRAM_SIZE = 1_024;
/** Instructions times characters of one test, at most 13 ms: what is longer matches nothing. */
const MAX_TEST_STEPS = 262_144;

/**
 * Character classes that take up to 4 ms each to compile: properties, and ranges up to a character beyond ASCII that are
 * folded by an inline flag.
 */
const MAX_WIDE_CLASSES = 8;
const PROPERTY = /\\p/gi;
const WIDE_RANGE = /-(?:[^\0-\x7f]|\\[xu])/g;
const FOLDING = /\(\?[a-z]*i/i;

/** What a pattern keeps of its work at most; texts that need more are worked through again. */
const CACHE_BYTES = 8_192;
const CACHE_BYTES_PER_INSTRUCTION = 128;

export type Pattern = {
  /** Instructions of the compiled pattern. */
  readonly size: number;
  /** @throws {CostError} see `Meter` */
  test(subject: string, meter: Meter): boolean;
};

/**
 * Compiles a pattern in the syntax of the language, without flags and unanchored.
 *
 * @throws {OperandError} when it is invalid, too large, or needs backtracking (look-around, back-references)
 */
export function compilePattern(pattern: unknown): Pattern {
  if (typeof pattern !== "string") throw new OperandError("must be the text of a regular expression");
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new OperandError(`must not be longer than ${MAX_PATTERN_LENGTH} characters`);
  }
  if (countWideClasses(pattern) > MAX_WIDE_CLASSES) {
    throw new OperandError(
      `must not have more than ${MAX_WIDE_CLASSES} properties of characters and ranges that ignore the case`,
    );
  }
  const compiled = compile(pattern);
  const size = compiled.programSize();
  if (size > MAX_PROGRAM_SIZE) throw new OperandError("is too large when compiled");
  boundCache(compiled, size);
  return {
    size,
    test(subject, meter) {
      const steps = size * (subject.length + 1);
      if (subject.length > MAX_SUBJECT_LENGTH || steps > MAX_TEST_STEPS) return false;
      meter.spend(steps);
      return compiled.test(subject);
    },
  };
}

function compile(pattern: string): RE2JS {
  // The engine would read a named back-reference as plain letters.
  if (/\\k</.test(pattern)) throw new OperandError("must not contain back-references");
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch (error) {
    throw new OperandError(`is no valid regular expression: ${(error as Error).message}`);
  }
}

const countWideClasses = (pattern: string): number =>
  count(pattern, PROPERTY) + (FOLDING.test(pattern) ? count(pattern, WIDE_RANGE) : 0);

const count = (text: string, what: RegExp): number => text.match(what)?.length ?? 0;

/** The engine's own bound is 8 MiB for each pattern. */
function boundCache(compiled: RE2JS, size: number): void {
  const { dfa } = compiled.re2();
  dfa.stateBudget = CACHE_BYTES + CACHE_BYTES_PER_INSTRUCTION * size;
  dfa.memBudget = dfa.stateBudget;
}
