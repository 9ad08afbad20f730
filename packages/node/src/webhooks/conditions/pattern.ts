/** Patterns of users: an engine without backtracking, so that no pattern can stop the node (webhooks.md 8, defect 6). */
import { RE2JS } from "re2js";
import { OperandError } from "./error.ts";

const MAX_PATTERN_LENGTH = 512;
/** Longer texts match nothing. */
const MAX_SUBJECT_LENGTH = 4_096;
/** Instructions of a compiled pattern: the slowest one of this size takes 0.1 s on the longest subject. */
const MAX_PROGRAM_SIZE = 1_024;

/**
 * Compiles a pattern in the syntax of the language, without flags and unanchored.
 *
 * @throws {OperandError} when it is invalid, too large, or needs backtracking (look-around, back-references)
 */
export function compilePattern(pattern: unknown): (subject: string) => boolean {
  if (typeof pattern !== "string") throw new OperandError("must be the text of a regular expression");
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new OperandError(`must not be longer than ${MAX_PATTERN_LENGTH} characters`);
  }
  const compiled = compile(pattern);
  if (compiled.programSize() > MAX_PROGRAM_SIZE) throw new OperandError("is too large when compiled");
  return (subject) => subject.length <= MAX_SUBJECT_LENGTH && compiled.test(subject);
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
