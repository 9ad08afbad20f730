/** Patterns of users: an engine without backtracking, so that no pattern can stop the node (webhooks.md 8, defect 6). */
import { LRUCache } from "lru-cache";
import { RE2JS } from "re2js";
import { OperandError } from "../error.ts";
import type { Meter } from "./cost.ts";

const MAX_PATTERN_LENGTH = 512;
/** Maximum length of a text; longer texts match nothing. */
const MAX_SUBJECT_LENGTH = 4_096;
/** Maximum number of instructions of a compiled pattern. */
const MAX_PROGRAM_SIZE = 1_024;
/** Instructions times characters of one test, at most 13 ms; longer tests match nothing. */
const MAX_TEST_STEPS = 262_144;

/**
 * Parts of patterns that take longer to compile than their instructions suggest: properties of characters (0.2 ms each),
 * and ranges up to a character beyond ASCII that an inline flag folds (4 ms each). They are charged as extra instructions.
 */
const PROPERTY = /\\p/gi;
const PROPERTY_SIZE = 16;
const WIDE_RANGE = /-(?:[^\0-\x7f]|\\[xu])/g;
const WIDE_RANGE_SIZE = 128;
const FOLDING = /\(\?[a-z]*i/i;

/** Maximum cache of a pattern's states; beyond it, states are computed again. */
const CACHE_BYTES = 8_192;
const CACHE_BYTES_PER_INSTRUCTION = 128;

export type Pattern = {
  /** Cost to compile and store the pattern: its instructions, plus a charge for its classes. */
  readonly size: number;
  /** @throws {CostError} see `Meter` */
  test(subject: string, meter: Meter): boolean;
};

/** Number of recently compiled patterns to cache: each is checked before it is used, and subscribers share patterns. */
const MAX_RECENT = 64;
const recent = new LRUCache<string, Pattern>({ max: MAX_RECENT });

/**
 * Compiles a pattern in JavaScript syntax, without flags and unanchored.
 *
 * @throws {OperandError} if it is invalid, too large, or needs backtracking (look-around, back-references)
 */
export function compilePattern(text: unknown): Pattern {
  if (typeof text !== "string") throw new OperandError("must be a regular expression, as a string");
  if (text.length > MAX_PATTERN_LENGTH) {
    throw new OperandError(`must not be longer than ${MAX_PATTERN_LENGTH} characters`);
  }
  const known = recent.get(text);
  if (known) return known;
  const compiled = compileText(text);
  recent.set(text, compiled);
  return compiled;
}

function compileText(pattern: string): Pattern {
  // Checked before compiling.
  const classesSize = sizeOfClasses(pattern);
  if (classesSize > MAX_PROGRAM_SIZE) throw new OperandError("is too large when compiled");
  const compiled = compile(pattern);
  const instructions = compiled.programSize();
  if (instructions + classesSize > MAX_PROGRAM_SIZE) throw new OperandError("is too large when compiled");
  boundCache(compiled, instructions);
  return {
    size: instructions + classesSize,
    test(subject, meter) {
      const steps = instructions * (subject.length + 1);
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
    throw new OperandError(`is not a valid regular expression: ${(error as Error).message}`);
  }
}

const sizeOfClasses = (pattern: string): number =>
  PROPERTY_SIZE * count(pattern, PROPERTY) +
  (FOLDING.test(pattern) ? WIDE_RANGE_SIZE * count(pattern, WIDE_RANGE) : 0);

const count = (text: string, what: RegExp): number => text.match(what)?.length ?? 0;

/** Lowers the engine's own cache bound of 8 MiB per pattern. */
function boundCache(compiled: RE2JS, instructions: number): void {
  const { dfa } = compiled.re2();
  dfa.stateBudget = CACHE_BYTES + CACHE_BYTES_PER_INSTRUCTION * instructions;
  dfa.memBudget = dfa.stateBudget;
}
