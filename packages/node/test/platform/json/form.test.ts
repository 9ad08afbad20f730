/** Forms of external values. */
import { expect, test } from "vitest";
import { formOf, refined } from "../../../src/platform/json/form.ts";
import { Type } from "../../../src/platform/json/schema.ts";

test("A custom test receives only values of the right type.", () => {
  const requested: unknown[] = [];
  const form = formOf(
    Type.Object({
      text: refined(Type.String(), (text) => {
        requested.push(text);
        return text === "good";
      }),
    }),
  );
  expect([{ text: "good" }, { text: "bad" }, { text: 1 }, {}, null].map(form.is)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
  expect(requested).toEqual(["good", "bad"]);
});

test("The first violation names the member, and not the keyword of a test.", () => {
  const form = formOf(Type.Object({ text: refined(Type.String(), (text) => text === "good") }));
  expect([{ text: "bad" }, { text: 1 }, {}, null].map(form.violation)).toEqual([
    "/text is invalid",
    "/text must be string",
    "it must have required property 'text'",
    "it must be object",
  ]);
});

test("A violation is described by the schema of the member, and a choice as a whole.", () => {
  const form = formOf(
    Type.Object({
      ips: Type.Array(Type.String({ pattern: "^[0-9.]+$", description: "an IP address" })),
      id: Type.Union([Type.String(), Type.Number()], { description: "a number or a string" }),
    }),
  );
  expect(
    [{ ips: ["1.2.3.4", "x"], id: 1 }, { ips: [1], id: 1 }, { ips: [], id: null }, { ips: [] }].map(
      form.fault,
    ),
  ).toEqual([
    { path: "/ips/1", message: "must be an IP address" },
    { path: "/ips/0", message: "must be an IP address" },
    { path: "/id", message: "must be a number or a string" },
    { path: "", message: "must have required property 'id'" },
  ]);
  expect(form.fault({ ips: [], id: 1 })).toBeUndefined();
});

test("The description of a violation is short, and has no control characters.", () => {
  const form = formOf(Type.Record(Type.String(), Type.Number()));
  const violation = form.violation({ [`\u001b[2J${"x".repeat(1_000)}`]: "a" });
  expect(violation).toContain("\\u001b");
  expect(violation.length).toBeLessThan(300);
});
