/** Patterns of conditions compared with the runtime's own expressions, for which they must select the same texts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Meter } from "../../src/subscriptions/conditions/cost.ts";
import { compilePattern } from "../../src/subscriptions/conditions/pattern.ts";
import { OperandError } from "../../src/subscriptions/subscription-error.ts";

/** More seeds and runs: `PATTERN_SEED=2 PATTERN_RUNS=60000`. */
const { PATTERN_SEED = "1", PATTERN_RUNS = "3000" } = process.env;

const matches = (pattern: string, text: string) =>
  compilePattern(pattern).test(text, new Meter(Number.POSITIVE_INFINITY));

/** Returns why the pattern is refused; undefined if it is accepted. */
function refusalOf(pattern: string): string | undefined {
  try {
    compilePattern(pattern);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(OperandError);
    return (error as OperandError).message;
  }
}

function expressionOf(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern);
  } catch {
    return undefined;
  }
}

const INVALID = /^is not a valid regular expression in JavaScript: /;

const TOO_LARGE =
  "must not have more than 1024 instructions: about one per character, multiplied by repetitions";
const NAMED = /^must not contain (look-around|back-references|inline flags): "/;

/** Asserts that a pattern is invalid in both, refused by name, or selects the same texts. */
function compare(pattern: string, texts: readonly string[]): void {
  const expected = expressionOf(pattern);
  const refusal = refusalOf(pattern);
  // V8 accepts two groups of one name in more places than ECMAScript, such as `(?<n>(?<n>)|)`.
  if (refusal?.endsWith("Duplicate capture group name")) return;
  expect([pattern, INVALID.test(refusal ?? "")]).toEqual([pattern, expected === undefined]);
  if (expected === undefined) return;
  if (refusal !== undefined) {
    expect(refusal).toMatch(NAMED);
    return;
  }
  for (const text of texts) {
    expect([pattern, text, matches(pattern, text)]).toEqual([pattern, text, expected.test(text)]);
  }
}

const HEART = "\u{1f49c}";
const [HIGH, LOW] = [HEART.charAt(0), HEART.charAt(1)] as const;

/** Characters that some part below treats in a way of its own. */
const CHARACTERS = [..."aAbzZkpQE019_-x{},:[]()\\/\b\0\t\n\v\r \u001f\u0085\u00a0\u00e9\u017f\u1680\u180e\u200b\u2028\u2029\u202f\u212a\u3000\ud7ff\ue000\ufeff\uffff", HIGH, LOW, HEART]; // biome-ignore format: one list

const ATOMS = [
  ...["a", "b", "z", "0", "_", "-", " ", ":", ",", "]", "}", "/", "\u00a0", "\u2028", "\ufeff", HEART, HIGH, LOW],
  ...[".", "^", "$", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\b", "\\B"],
  ...["\\A", "\\z", "\\Z", "\\Q", "\\E", "\\C", "\\pL", "\\p{L}", "\\P{Lu}", "\\X", "\\R", "\\h", "\\a", "\\e", "\\G", "\\K"],
  ...["\\n", "\\r", "\\t", "\\v", "\\f", "\\0", "\\00", "\\07", "\\101", "\\377", "\\400", "\\8", "\\9", "\\08"],
  ...["\\x41", "\\x4", "\\x{41}", "\\u0041", "\\u004", "\\u{2}", "\\ud83d", "\\udc9c", "\\ud83d\\udc9c", "\\ue000"],
  ...["\\cA", "\\cj", "\\c", "\\c1", "\\c_", "\\-", "\\/", "\\]", "\\{", "\\_", "\\k", "\\k<n>", "\\N", "\\N{U+41}"],
  ...["{", "{,2}", "x{,", "[]", "[^]", "(?:)", "()", "\\1", "[[:alpha:]]", "[[:^digit:]]", "[[=a=]]", "(?i)", "(?i:a)"],
]; // biome-ignore format: one kind per line

const CLASS_PARTS = [
  ...["a", "z", "0", "_", "-", "^", "[", ":", "&&", "--", "~~", "/", "(", "{", "|", "$", ".", " ", HEART, HIGH, LOW],
  ...["a-z", "0-9", "A-z", "+--", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\d-z", "a-\\d", "\\s-\\w", "\\b", "\\B"],
  ...["\\n", "\\0", "\\101", "\\8", "\\x41", "\\x{41}", "\\u0041-\\u005a", "\\u{61}", "\\cA", "\\c1", "\\c_", "\\c", "\\c*"],
  ...["\\]", "\\\\", "\\-", "\\^", "\\pL", "\\p{L}", "\\Q", "\\E", "\\k", "\\ud800-\\udfff", "\\ud7ff-\\ue000", "\u2028-\u202f"],
  ...["\\u0000-\\uffff", "[:alpha:]", "\\xa0", "\\ufeff", "\\ue000-\\uffff"],
]; // biome-ignore format: one kind per line

const QUANTIFIERS = ["*", "+", "?", "*?", "+?", "??", "{0}", "{2}", "{0,1}", "{1,}", "{2,3}?", "{3,2}", "{,2}", "{ 1}", "*+"]; // biome-ignore format: one list

const joined = (part: fc.Arbitrary<string>, maxLength: number, separator = "") =>
  fc.array(part, { maxLength }).map((parts) => parts.join(separator));
const CLASS = fc
  .tuple(fc.constantFrom("[", "[^"), joined(fc.constantFrom(...CLASS_PARTS), 4))
  .map(([opening, parts]) => `${opening}${parts}]`);
const OPENING = fc.constantFrom("(", "(?:", "(?:", "(?:", "(?<n>", "(?=", "(?<!", "(?s:");

/** Patterns with groups nested to a depth; most are valid. */
function patternsOf(depth: number): fc.Arbitrary<string> {
  const flat = fc.oneof(fc.constantFrom(...ATOMS), fc.constantFrom(...CHARACTERS), CLASS);
  const group = () =>
    fc.tuple(OPENING, patternsOf(depth - 1)).map(([opening, content]) => `${opening}${content})`);
  const atom = depth === 0 ? flat : fc.oneof({ arbitrary: flat, weight: 3 }, group());
  const repeated = fc.tuple(atom, fc.constantFrom(...QUANTIFIERS)).map((parts) => parts.join(""));
  const item = fc.oneof({ arbitrary: atom, weight: 3 }, repeated);
  return fc.oneof({ arbitrary: joined(item, 3), weight: 3 }, joined(joined(item, 2), 3, "|"));
}
const PATTERNS = patternsOf(3);

/** Texts of characters above, and of the pattern itself. */
const textsFor = (pattern: string) =>
  fc.array(joined(fc.oneof(fc.constantFrom(...CHARACTERS), fc.constantFrom(...pattern.split(""), "")), 8), {
    minLength: 8,
    maxLength: 8,
  });

test("A generated pattern selects the same texts as the runtime's expression, or is refused by name.", () => {
  const cases = PATTERNS.chain((pattern) => fc.tuple(fc.constant(pattern), textsFor(pattern)));
  fc.assert(
    fc.property(cases, ([pattern, texts]) => compare(pattern, texts)),
    { seed: Number(PATTERN_SEED), numRuns: Number(PATTERN_RUNS) },
  );
});

const SETS = [
  ...["\\d", "\\D", "\\w", "\\W", "\\s", "\\S", ".", "[^]", "[]", "\\b", "\\B", "[\\s]", "[^\\s]", "[^\\S]", "[\\W_]"],
  ...["[\\S\\n]", "[\\ud900-\\uf000]", "[^\\ud900-\\uf000]", "[\\0-\\ue000]", "[^\\0-\\ud7ff]"],
]; // biome-ignore format: one list

test.each(SETS)("%s selects the same characters as the runtime's expression.", (pattern) => {
  const expected = new RegExp(pattern);
  const differences = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit))
    .concat("")
    .filter((text) => matches(pattern, text) !== expected.test(text));
  expect(differences).toEqual([]);
});

/** Patterns that the engine would read in another way; texts that match, texts that do not. */
test.each<[string, string[], string[]]>([
  ["^loyer\\smai$", ["loyer\u00a0mai", "loyer\ufeffmai", "loyer\u2003mai", "loyer\vmai"], ["loyer\u0085mai"]],
  ["^.$", ["a", HIGH, "\u0085"], [HEART, "\r", "\n", "\u2028", ""]],
  ["^..$", [HEART], ["\r\n"]],
  ["^[^a]$", [HIGH, "\n"], [HEART]],
  [`^[${HEART}]+$`, [HEART, HIGH, LOW], ["\u{1f49d}"]],
  [`^${HEART}{2}$`, [`${HEART}${LOW}`], [`${HEART}${HEART}`]],
  ["\\ud83d", [HEART, HIGH], [LOW]],
  ["^\\ud83d\\udc9c$", [HEART], [HIGH]],
  ["^a\\z", ["az"], ["a"]],
  ["\\Aa", ["Aa"], ["a"]],
  ["^a\\Z$", ["aZ"], ["a"]],
  ["^\\Qa+\\E$", ["QaE", "QaaE"], ["a+"]],
  ["^\\pL$", ["pL"], ["a"]],
  ["^\\p{Lu}$", ["p{Lu}"], ["A"]],
  ["^\\P{2}$", ["PP"], ["a"]],
  ["^[[:alpha:]]$", [":]", "a]", "[]"], ["b", "a"]],
  ["^[\\b]$", ["\b"], ["b", ""]],
  ["^[\\w-a]$", ["-", "z"], ["."]],
  ["^\\cJ$", ["\n"], ["cJ"]],
  ["^\\c$", ["\\c"], ["c"]],
  ["^[\\c_]$", ["\u001f"], ["_", "c"]],
  ["^\\0$", ["\0"], ["0"]],
  ["^\\101$", ["A"], ["101"]],
  ["^\\8$", ["8"], ["\b"]],
  ["^\\x4$", ["x4"], ["\u0004"]],
  ["^\\x{3}$", ["xxx"], ["\u0003"]],
  ["^\\u{3}$", ["uuu"], ["\u0003"]],
  ["^\\a\\e\\C\\h$", ["aeCh"], ["\u0007\u001b"]],
  ["^\\k<a>$", ["k<a>"], ["<a>"]],
  ["^a{,2}$", ["a{,2}"], ["", "aa"]],
  ["^a{2$", ["a{2"], ["aa"]],
  ["^{}]$", ["{}]"], [""]],
  ["^[]$", [], ["", "]", "$"]],
  ["^[^]$", ["\n", "]", HIGH], ["", HEART]],
  ["^[^^]$", ["a"], ["^"]],
  ["a$", ["ba"], ["a\n"]],
  ["(?<year>\\d{4})|(?<year>x)", ["2026", "x"], ["202"]],
  ["^(?:)*$", [""], ["a"]],
  ["^(?:a|){3}$", ["", "aa"], ["aaaa"]],
  ["^a{250}$", ["a".repeat(250)], ["a".repeat(249)]],
])("%s has the meaning that it has in JavaScript.", (pattern, accepted, refused) => {
  for (const text of accepted) expect([text, matches(pattern, text)]).toEqual([text, true]);
  for (const text of refused) expect([text, matches(pattern, text)]).toEqual([text, false]);
  compare(pattern, [...accepted, ...refused]);
});

test.each<[unknown, string]>([
  [5, "must be a regular expression, as a string"],
  ["a".repeat(513), "must not be longer than 512 characters"],
  ["(?=a)", 'must not contain look-around: "(?=a)"'],
  ["b(?!a)*", 'must not contain look-around: "(?!a)"'],
  ["(?<=a)b", 'must not contain look-around: "(?<=a)"'],
  ["(?<!a)b", 'must not contain look-around: "(?<!a)"'],
  ["(a)\\1", 'must not contain back-references: "\\1"'],
  ["(?<n>a)\\k<n>", 'must not contain back-references: "\\k<n>"'],
  ["(?i:a)", 'must not contain inline flags: "(?i:a)"'],
  ["a{1001}", 'must not repeat a part more than 1000 times: "{1001}"'],
  ["(?:ab){2,5000}?", 'must not repeat a part more than 1000 times: "{2,5000}?"'],
  ["(?i)a", "is not a valid regular expression in JavaScript: Invalid group"],
  ["(?P<n>a)", "is not a valid regular expression in JavaScript: Invalid group"],
  ["[", "is not a valid regular expression in JavaScript: Unterminated character class"],
  ["a**", "is not a valid regular expression in JavaScript: Nothing to repeat"],
  ["a{2,1}", "is not a valid regular expression in JavaScript: numbers out of order in {} quantifier"],
  ["(?:a{1,40}){1,40}", TOO_LARGE],
  ["(?:ab?){600}", TOO_LARGE],
  // Half a second to compile if the engine wrote its repetitions out.
  ["(?:a?b?c?){999}".repeat(34), TOO_LARGE],
])("The pattern %s is refused with its reason.", (pattern, reason) => {
  expect(() => compilePattern(pattern)).toThrow(new OperandError(reason));
});

test("Every character of a pattern and of its text is one step for each instruction, also beyond the basic plane.", () => {
  const { size, test: run } = compilePattern("^.+x$");
  const meter = new Meter();
  run(HEART.repeat(10), meter);
  expect(meter.steps()).toBe(size * 21);
});
