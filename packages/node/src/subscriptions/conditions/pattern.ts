/**
 * Patterns of users: an engine without backtracking, so that no pattern can stop the node (webhooks.md 8, defect 6). A pattern
 * of JavaScript is translated for the engine so that both match the same texts.
 *
 * A character of such a pattern is a UTF-16 code unit, but one of the engine is a code point. Code units from U+D800 on, which
 * include the halves of surrogate pairs, are therefore moved to supplementary code points, in patterns and in texts.
 */
import { type AST, RegExpParser, RegExpSyntaxError } from "@eslint-community/regexpp";
import { LRUCache } from "lru-cache";
import { RE2JS } from "re2js";
import { OperandError } from "../subscription-error.ts";
import type { Meter } from "./cost.ts";

const MAX_PATTERN_LENGTH = 512;
/** Maximum length of a text; longer texts match nothing. */
const MAX_SUBJECT_LENGTH = 4_096;
/** Maximum number of instructions of a compiled pattern. */
const MAX_PROGRAM_SIZE = 1_024;
/** Instructions times characters of one test, at most 13 ms; longer tests match nothing. */
const MAX_TEST_STEPS = 262_144;
/** Maximum of the engine for one quantifier. */
const MAX_REPETITIONS = 1_000;
/**
 * Maximum elements of a pattern whose repetitions are written out. It is checked before the engine does so, which took it up to
 * 0.6 s for 512 characters.
 */
const MAX_ELEMENTS = 4_096;
const MAX_SHOWN_LENGTH = 64;
const TOO_LARGE = `must not have more than ${MAX_PROGRAM_SIZE} instructions: about one per character, multiplied by repetitions`;

/** Maximum cache of a pattern's states; beyond it, states are computed again. */
const CACHE_BYTES = 8_192;
const CACHE_BYTES_PER_INSTRUCTION = 128;

/** Code units from this one on are moved. */
const FIRST_MOVED = 0xd800;
const SHIFT = 0x10000;
const MOVED = /[\ud800-\uffff]/g;

/** Contents of classes, in characters: escapes take the engine four times as long to read. */
const ANY = "\0-\u{10ffff}";
const LINE_ENDS = "\n\r\u2028\u2029";
const SPACES = "\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u{1feff}";
const NO_SPACES =
  "\0-\b\u000e-\u001f!-\u009f\u00a1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e\u2030-\u205e\u2060-\u2fff\u3001-\u{1fefe}\u{1ff00}-\u{10ffff}";

export type Pattern = {
  /** Number of instructions of the compiled pattern. */
  readonly size: number;
  /** @throws {CostError} see `Meter` */
  test(subject: string, meter: Meter): boolean;
};

/** Number of recently compiled patterns to cache: each is checked before it is used, and subscribers share patterns. */
const MAX_RECENT = 64;
const recent = new LRUCache<string, Pattern>({ max: MAX_RECENT });
const parser = new RegExpParser();

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
  const parsed = parse(pattern);
  const translated = translateAlternatives(parsed);
  if (sizeOfAlternatives(parsed) > MAX_ELEMENTS) throw new OperandError(TOO_LARGE);
  const compiled = compileTranslated(translated);
  const size = compiled.programSize();
  if (size > MAX_PROGRAM_SIZE) throw new OperandError(TOO_LARGE);
  boundCache(compiled, size);
  return {
    size,
    test(subject, meter) {
      const steps = size * (subject.length + 1);
      if (subject.length > MAX_SUBJECT_LENGTH || steps > MAX_TEST_STEPS) return false;
      meter.spend(steps);
      return compiled.test(moved(subject));
    },
  };
}

/** Moves the code units of a text as those of its pattern were moved. */
const moved = (subject: string): string =>
  subject.replace(MOVED, (unit) => String.fromCodePoint(unit.charCodeAt(0) + SHIFT));

function parse(pattern: string): AST.Pattern {
  try {
    return parser.parsePattern(pattern);
  } catch (error) {
    if (!(error instanceof RegExpSyntaxError)) throw error;
    // The message begins with the whole pattern.
    const reason = error.message.slice(error.message.lastIndexOf(": ") + 2);
    throw new OperandError(`is not a valid regular expression in JavaScript: ${reason}`);
  }
}

/** Compiles a translated pattern, which the engine refuses only for its size. */
function compileTranslated(translated: string): RE2JS {
  try {
    return RE2JS.compile(translated);
  } catch {
    throw new OperandError(TOO_LARGE);
  }
}

/** Lowers the engine's own cache bound of 8 MiB per pattern. */
function boundCache(compiled: RE2JS, instructions: number): void {
  const { dfa } = compiled.re2();
  dfa.stateBudget = CACHE_BYTES + CACHE_BYTES_PER_INSTRUCTION * instructions;
  dfa.memBudget = dfa.stateBudget;
}

const sizeOfAlternatives = ({ alternatives }: Pick<AST.Pattern, "alternatives">): number =>
  alternatives.reduce((sum, { elements }) => elements.reduce((size, node) => size + sizeOf(node), sum), 0);

/** Returns the elements of a translated part after its repetitions are written out. */
function sizeOf(node: AST.Element): number {
  if (node.type === "Group" || node.type === "CapturingGroup") return sizeOfAlternatives(node);
  if (node.type !== "Quantifier") return 1;
  const repetitions = node.max === Number.POSITIVE_INFINITY ? Math.max(node.min, 1) : node.max;
  return repetitions * (1 + sizeOf(node.element));
}

const translateAlternatives = ({ alternatives }: Pick<AST.Pattern, "alternatives">): string =>
  alternatives.map(({ elements }) => elements.map(translateElement).join("")).join("|");

function translateElement(node: AST.Element): string {
  switch (node.type) {
    case "Assertion":
      return translateAssertion(node);
    case "Quantifier":
      return `(?:${translateElement(node.element)})${translateQuantifier(node)}`;
    case "Group":
      if (node.modifiers) throw unsupported("inline flags", node);
      return `(?:${translateAlternatives(node)})`;
    case "CapturingGroup":
      return `(?:${translateAlternatives(node)})`;
    case "Backreference":
      throw unsupported("back-references", node);
    case "Character":
      return translateCharacter(node);
    case "CharacterSet":
      return node.kind === "any" ? `[^${LINE_ENDS}]` : `[${translateClassElement(node)}]`;
    case "CharacterClass": {
      const content = [...new Set(node.elements.map(translateClassElement))].join("");
      return content === "" ? `[${node.negate ? "" : "^"}${ANY}]` : `[${node.negate ? "^" : ""}${content}]`;
    }
    default:
      throw unsupported("set operations", node);
  }
}

function translateAssertion(node: AST.Assertion): string {
  switch (node.kind) {
    case "start":
      return "\\A";
    case "end":
      return "\\z";
    case "word":
      return node.negate ? "\\B" : "\\b";
    default:
      throw unsupported("look-around", node);
  }
}

function translateQuantifier({ min, max, raw, element }: AST.Quantifier): string {
  const isUnbounded = max === Number.POSITIVE_INFINITY;
  if ((isUnbounded ? min : max) > MAX_REPETITIONS) {
    const quantifier = raw.slice(element.raw.length);
    throw new OperandError(`must not repeat a part more than ${MAX_REPETITIONS} times: "${quantifier}"`);
  }
  // The engine compiles the short forms faster.
  if (isUnbounded && min < 2) return min === 0 ? "*" : "+";
  return min === 0 && max === 1 ? "?" : `{${min},${isUnbounded ? "" : max}}`;
}

function translateClassElement(node: AST.CharacterClassElement): string {
  switch (node.type) {
    case "Character":
      return translateCharacter(node);
    case "CharacterClassRange":
      return `${translateCharacter(node.min)}-${translateCharacter(node.max)}`;
    case "CharacterSet":
      // The engine knows the same digits and characters of words.
      if (node.kind === "space") return node.negate ? NO_SPACES : SPACES;
      return node.raw;
    default:
      throw unsupported("set operations", node);
  }
}

/** Characters that the engine reads as they are, also in a class. */
const PLAIN = /[0-9A-Za-z]|[^\0-\x7f]/;

function translateCharacter({ value }: AST.Character): string {
  const character = String.fromCodePoint(value < FIRST_MOVED ? value : value + SHIFT);
  return PLAIN.test(character) ? character : `\\x${value.toString(16).padStart(2, "0")}`;
}

const unsupported = (what: string, { raw }: AST.Node): OperandError =>
  new OperandError(`must not contain ${what}: "${raw.slice(0, MAX_SHOWN_LENGTH)}"`);
