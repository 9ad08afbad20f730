/** Warns of probable mistakes in conditions that are accepted (webhooks.md 3); each warning is a sentence. */
import { isEveryEvent } from "@uniknode/client/every-event";
import { subscribedNames } from "../events/catalogue.ts";
import { DATA_SCHEMAS, HEX, SIGNED, UNSIGNED } from "../events/schemas.ts";
import { similarNames } from "../platform/text/wording.ts";
import type { Condition } from "./conditions/conditions.ts";
import { compareDecimals, decimalOf, readInterval, structureOf } from "./conditions/operators.ts";

/** Members of a schema that describe a content. */
type Schema = {
  readonly type?: string;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: unknown;
};

/** @param events names and patterns of a subscription */
export function warningsOf(events: readonly string[], conditions: readonly Condition[]): string[] {
  const contents = [...subscribedNames(events).values()].map((name) => contentOf(name));
  return conditions.flatMap((condition, index) => {
    const problem = problemOf(contents, condition);
    return problem === undefined ? [] : [`"conditions" at position ${index}: ${problem}`];
  });
}

/**
 * Kind of a value according to the schema of a content; `open` for any value. An `amount` is the text of an integer, and only a
 * `signed` one can be negative.
 */
type Kind = "integer" | "amount" | "signed" | "boolean" | "hex" | "text" | "list" | "object" | "open";

const MAX_SHOWN = 64;
const ORDERINGS: readonly string[] = ["gt", "gte", "lt", "lte"];
const shown = (value: unknown) => (JSON.stringify(value) ?? "nothing").slice(0, MAX_SHOWN);

function problemOf(contents: readonly (Schema | undefined)[], condition: Condition): string | undefined {
  const { key } = condition;
  const kinds = contents.flatMap((content) => kindsAt(content, key));
  if (kinds.length === 0) return missingMember(contents, condition);
  return badOperand(condition) ?? badKind(condition, kinds);
}

function missingMember(contents: readonly (Schema | undefined)[], { key, condition, value }: Condition) {
  if (isEveryEvent([{ key, condition, value }])) return undefined;
  const known = [
    ...new Set(contents.flatMap((content) => Object.keys(elementOf(content)?.properties ?? {}))),
  ];
  const [similar] = similarNames(key, known);
  const hint = similar === undefined ? "" : `; did you mean "${similar}"?`;
  return `no event of this webhook has a member "${key.slice(0, MAX_SHOWN)}", so that the condition is ${condition === "ne" ? "always" : "never"} true${hint}`;
}

/** Returns a warning about an operand that no value can match. */
function badOperand({ condition, value }: Condition): string | undefined {
  if (ORDERINGS.includes(condition) && decimalOf(value) === undefined)
    return `"${condition}" compares numbers, and ${shown(value)} is not a number, so that the condition is never true`;
  if (condition !== "between") return undefined;
  const { min, max } = readInterval(value);
  return compareDecimals(min, max) < 0
    ? undefined
    : "the range contains no number, so that the condition is never true";
}

function badKind({ key, condition, value }: Condition, kinds: readonly Kind[]): string | undefined {
  const [first] = kinds;
  if (first === undefined || !kinds.every((kind) => isNever(condition, kind, value))) return undefined;
  return `"${condition}" ${condition === "truthy" ? "" : `with ${shown(value)} `}is never true of "${key.slice(0, MAX_SHOWN)}", which is ${NOUNS[first]}`;
}

const NOUNS: Readonly<Record<Kind, string>> = {
  integer: "a number without decimals that is not negative",
  amount: "a number without decimals that is not negative",
  signed: "a number without decimals",
  boolean: "true or false",
  hex: "text of pairs of the digits 0-9 and a-f",
  text: "text",
  list: "a list",
  object: "an object",
  open: "anything",
};

function isNever(condition: Condition["condition"], kind: Kind, value: unknown): boolean {
  if (kind === "open") return false;
  switch (condition) {
    case "eq":
      return isNeverEqual(kind, value);
    case "contains":
      return isNeverContained(kind, value);
    case "truthy":
      return kind !== "boolean" && kind !== "text";
    case "regexp":
      return kind === "list" || kind === "object";
    case "ne":
    case "falsy":
      return false;
    case "lt":
    case "lte":
      return isNeverOrdered(kind) || isNeverBelow(condition, kind, value);
    default:
      return isNeverOrdered(kind);
  }
}

const isNeverOrdered = (kind: Kind): boolean => kind === "boolean" || kind === "list" || kind === "object";

const isUnsigned = (kind: Kind): boolean => kind === "integer" || kind === "amount";
const ZERO = decimalOf("0");

function isNeverBelow(condition: "lt" | "lte", kind: Kind, value: unknown): boolean {
  const bound = decimalOf(value);
  if (!isUnsigned(kind) || !bound || !ZERO) return false;
  const order = compareDecimals(bound, ZERO);
  return order < 0 || (condition === "lt" && order === 0);
}

function isNeverEqual(kind: Kind, value: unknown): boolean {
  const structure = structureOf(value);
  const isStructure = typeof structure === "object" && structure !== null;
  const number = decimalOf(value);
  switch (kind) {
    case "boolean":
      return !/^(true|false)$/.test(String(value));
    case "integer":
    case "amount":
      return number === undefined || number.fraction !== "" || number.negative;
    case "signed":
      return number === undefined || number.fraction !== "";
    case "hex":
      return typeof value === "string" && !new RegExp(HEX).test(value);
    case "list":
      return !Array.isArray(structure);
    case "object":
      return !isStructure || Array.isArray(structure);
    default:
      return false;
  }
}

/** Texts contain a part; the parts of numbers and of hexadecimal texts have a form, too. */
function isNeverContained(kind: Kind, value: unknown): boolean {
  if (kind === "integer" || kind === "boolean") return true;
  if (typeof value !== "string") return false;
  if (kind === "amount") return !/^\d*$/.test(value);
  if (kind === "signed") return !/^-?\d*$/.test(value);
  return kind === "hex" && !/^[0-9a-f]*$/.test(value);
}

/** Returns the kinds of the values under a key, as `valuesAt` finds them; none if the content does not have the member. */
function kindsAt(content: Schema | undefined, key: string): Kind[] {
  const schema = memberAt(content, key) ?? memberAt(elementOf(content), key);
  return schema === undefined ? [] : [kindOf(schema)];
}

const OPEN: Schema = {};

function memberAt(schema: Schema | undefined, key: string): Schema | undefined {
  if (schema === undefined || schema.type === undefined) return schema;
  const [head = "", ...rest] = key.split(".");
  if (schema.type === "array") {
    if (!/^\d+$/.test(head)) return undefined;
    return rest.length === 0 ? schema.items : memberAt(schema.items, rest.join("."));
  }
  if (schema.type !== "object") return undefined;
  const members = schema.properties ?? {};
  if (Object.hasOwn(members, key)) return members[key];
  if (schema.additionalProperties !== false) return OPEN;
  if (rest.length === 0 || !Object.hasOwn(members, head)) return undefined;
  return memberAt(members[head], rest.join("."));
}

/** Returns the schema of a list's elements: a condition on a list holds if it holds for one element. */
const elementOf = (content: Schema | undefined): Schema | undefined =>
  content?.type === "array" ? content.items : content;

const FORMS: Readonly<Record<string, Kind>> = { [SIGNED]: "signed", [UNSIGNED]: "amount", [HEX]: "hex" };

function kindOf({ type, pattern }: Schema): Kind {
  if (type === "integer") return "integer";
  if (type === "string") return (pattern && FORMS[pattern]) || "text";
  if (type === "boolean" || type === "object") return type;
  return type === "array" ? "list" : "open";
}

/** Returns the schema of an event's content; undefined for events without content. */
function contentOf(event: string): Schema | undefined {
  return (DATA_SCHEMAS as Readonly<Record<string, Schema | undefined>>)[event];
}
