import fc from "fast-check";
import { expect, test } from "vitest";
import { boundedLine, createLogger, textLine } from "../../../src/platform/logging/logger.ts";

/** All values, the last one beyond the bound, and the remaining members. */
const MAX_LINE = 24_000;

function lineOf(log: (logger: ReturnType<typeof createLogger>) => void): string {
  let text = "";
  log(
    createLogger("info", {
      write(line) {
        text += line;
      },
    }),
  );
  return text;
}

test("An error with 60 KB of foreign text is one short line, with its beginning, its end and its stack.", () => {
  const err = Object.assign(new Error(`its log is ${"x".repeat(60_000)}, not ours`), {
    code: "FACTS_UNKNOWN",
  });
  const line = lineOf((logger) => logger.warn({ err, url: "http://other" }, "cannot be compared"));
  expect(line.length).toBeLessThan(8_000);
  const { err: shown, url, msg } = JSON.parse(line);
  expect(shown.message).toMatch(/^its log is x+ \.\.\. 5\d{4} characters \.\.\. x+, not ours$/);
  expect(shown.stack).toMatch(/bounded-line\.test\.ts/);
  expect([url, msg]).toEqual(["http://other", "cannot be compared"]);
});

test("The cause of an error, lists, names of members and messages are bounded, too.", () => {
  const long = "y".repeat(100_000);
  const cases: object[] = [
    { err: new Error("a", { cause: new Error(long) }) },
    { list: Array.from({ length: 50_000 }, (_, index) => `${index}`) },
    { numbers: Array.from({ length: 50_000 }, (_, index) => index) },
    { escaped: ["\u009b", '"', "\u202e", "\n", "\u{e0041}"].map((unsafe) => unsafe.repeat(50_000)) },
    { deep: { [long]: { [long]: [[[long]]] } } },
    Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`name${index}`, null])),
  ];
  for (const fields of cases) {
    const line = lineOf((logger) => logger.error(fields, long));
    expect(line.length).toBeLessThan(MAX_LINE);
    expect(JSON.parse(line)).toMatchObject({ level: "error" });
  }
});

test("Ordinary lines, and long ones of many short values, are unchanged.", () => {
  const delegates = Array.from({ length: 100 }, (_, index) => `${index}`.padStart(66, "0"));
  const line = lineOf((logger) =>
    logger.info({ delegates, height: 5, isLast: true, none: null }, "forger started"),
  );
  expect(JSON.parse(line)).toMatchObject({ delegates, height: 5, isLast: true, none: null });
});

/** Code points (U+) of characters that terminals obey or do not show. */
const UNSAFE = [
  0, 7, 0x1b, 0x7f, 0x80, 0x9b, 0xad, 0x61c, 0x200b, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a,
];
UNSAFE.push(0x202e, 0x2060, 0x2066, 0x2069, 0x3164, 0xfeff, 0xfff9, 0xe0041);

test("Characters that a terminal obeys or hides are escaped in both formats, and the JSON has the same value.", () => {
  for (const code of UNSAFE) {
    const unsafe = String.fromCodePoint(code);
    const fields = { [`a${unsafe}b`]: unsafe, list: [`${unsafe}é漢😀`] };
    const line = lineOf((logger) => logger.info(fields, `peer ${unsafe}`));
    const shown = textLine(line, { hasColors: false, clearsLine: false });
    for (const text of [line.trimEnd(), shown.trimEnd()]) expect(text).not.toContain(unsafe);
    expect(shown).toContain("é漢😀");
    expect(JSON.parse(line)).toMatchObject({ ...fields, msg: `peer ${unsafe}` });
  }
});

test("Property: every log line is bounded, safe and JSON.", () => {
  fc.assert(
    fc.property(
      fc.object({ maxDepth: 5, maxKeys: 20 }),
      fc.string({ unit: "binary", maxLength: 9_000 }),
      (fields, text) => {
        const line = boundedLine(`${JSON.stringify({ level: "info", time: 1, fields, text })}\n`);
        expect(line.length).toBeLessThan(MAX_LINE);
        expect(line.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        expect(JSON.parse(line)).toMatchObject({ level: "info", time: 1 });
      },
    ),
    { numRuns: 300 },
  );
});
