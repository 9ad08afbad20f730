/** Draft of a webhook, stored in the URL so that it can be shared and survives a reload. */
import { type Condition, EVERY_EVENT, type NewWebhook } from "@uniknode/client";

export type DraftCondition = {
  readonly key: string;
  readonly condition: Condition["condition"];
  readonly value: string;
};

export type Draft = {
  /** Display name; empty if there is none. */
  readonly name: string;
  /** Event names and patterns. */
  readonly events: readonly string[];
  /** Conditions; none means that every event is delivered. */
  readonly conditions: readonly DraftCondition[];
  readonly match: "any" | "all";
  readonly target: string;
  readonly order: "parallel" | "strict";
  readonly confirmations: number;
  /** True if deliveries contain a proof. */
  readonly proof: boolean;
};

export const OPERATORS: readonly (readonly [Condition["condition"], string])[] = [
  ["eq", "is"],
  ["ne", "is not"],
  ["gt", "is greater than"],
  ["gte", "is at least"],
  ["lt", "is less than"],
  ["lte", "is at most"],
  ["between", "is between"],
  ["not-between", "is not between"],
  ["contains", "contains"],
  ["regexp", "matches the pattern"],
  ["truthy", "is true"],
  ["falsy", "is false"],
];

export const needsValue = (condition: Condition["condition"]): boolean =>
  condition !== "truthy" && condition !== "falsy";

export const MAX_CONFIRMATIONS = 10_000;
export const MAX_NAME_LENGTH = 100;

/** Parses a draft from the URL, and ignores invalid values. */
export function draftOf(query: Readonly<Record<string, string>>): Draft {
  const { name = "", events = "", conditions, match, target = "", order, confirmations = "", proof } = query;
  const count = /^\d{1,5}$/.test(confirmations) ? Number(confirmations) : 0;
  return {
    name: name.slice(0, MAX_NAME_LENGTH),
    events: events.split(/[\s,]+/).filter((name) => name !== ""),
    conditions: conditionsOf(conditions),
    match: match === "all" ? "all" : "any",
    target,
    order: order === "strict" ? "strict" : "parallel",
    confirmations: Math.min(count, MAX_CONFIRMATIONS),
    proof: proof === "yes",
  };
}

function conditionsOf(text = "[]"): DraftCondition[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return [];
  }
  if (!Array.isArray(parsed)) return [];
  return parsed.flatMap((item: unknown) => {
    const { key, condition, value = "" } = Object(item) as Partial<Record<string, unknown>>;
    const known = OPERATORS.find(([operator]) => operator === condition)?.[0];
    if (typeof key !== "string" || known === undefined) return [];
    return [{ key, condition: known, value: typeof value === "string" ? value : JSON.stringify(value) }];
  });
}

/** Converts a draft to URL parameters; an empty value means the default. */
export const queryOf = (draft: Draft): Record<string, string> => ({
  name: draft.name,
  events: draft.events.join(","),
  conditions: draft.conditions.length > 0 ? JSON.stringify(draft.conditions) : "",
  match: draft.match === "all" ? "all" : "",
  target: draft.target,
  order: draft.order === "strict" ? "strict" : "",
  confirmations: draft.confirmations > 0 ? `${draft.confirmations}` : "",
  proof: draft.proof ? "yes" : "",
});

/** Fields of registrations and dry runs. Conditions without a key are incomplete and omitted. */
export function selectionOf({
  events,
  conditions,
  match,
}: Draft): Pick<NewWebhook, "conditions"> & Selection {
  const finished = conditions
    .filter(({ key }) => key !== "")
    .map(
      ({ key, condition, value }): Condition => ({
        key,
        condition,
        ...(needsValue(condition) && { value }),
      }),
    );
  const [first, ...others] = events;
  return {
    // A single name is the `event`; several names and patterns are the `events`.
    ...(first !== undefined && others.length === 0 && !first.includes("*") ? { event: first } : { events }),
    conditions: finished.length > 0 ? finished : [EVERY_EVENT],
    ...(match === "all" && finished.length > 1 && { match }),
  };
}

type Selection = Pick<NewWebhook, "event" | "events" | "match">;

export const registrationOf = (draft: Draft): NewWebhook => ({
  ...(draft.name.trim() !== "" && { name: draft.name.trim() }),
  ...selectionOf(draft),
  target: draft.target.trim(),
  ...(draft.order === "strict" && { order: draft.order }),
  ...(draft.confirmations > 0 && { confirmations: draft.confirmations }),
  ...(draft.proof && { proof: true }),
});

/** A member of a content that a condition can use, such as `asset.nft.unik.tokenId`, with an example of its value. */
export type Member = readonly [path: string, value: unknown];

export function membersOf(content: unknown, prefix = "", depth = 4): Member[] {
  // A condition on a list is true if it is true for one element.
  const value = Array.isArray(content) && prefix === "" ? content[0] : content;
  if (typeof value !== "object" || value === null || Array.isArray(value) || depth === 0) {
    return prefix === "" ? [] : [[prefix, value]];
  }
  return Object.entries(value).flatMap(([name, member]) =>
    membersOf(member, prefix === "" ? name : `${prefix}.${name}`, depth - 1),
  );
}

type Operator = Condition["condition"];

const NUMBER_OPERATORS: readonly Operator[] = [
  "eq",
  "ne",
  "gt",
  "gte",
  "lt",
  "lte",
  "between",
  "not-between",
];
const TEXT_OPERATORS: readonly Operator[] = ["eq", "ne", "contains", "regexp"];

/** Returns the operators for values like the example, and the chosen one. */
export function operatorsFor(example: unknown, chosen: Operator): typeof OPERATORS {
  const fitting = fittingOperators(example);
  return OPERATORS.filter(([operator]) => operator === chosen || (fitting?.includes(operator) ?? true));
}

function fittingOperators(example: unknown): readonly Operator[] | undefined {
  if (Array.isArray(example)) return ["contains"];
  switch (typeof example) {
    case "boolean":
      return ["truthy", "falsy"];
    case "number":
    case "bigint":
      return NUMBER_OPERATORS;
    case "string":
      // Amounts are texts of digits.
      return /^\d+$/.test(example) ? NUMBER_OPERATORS : TEXT_OPERATORS;
    default:
      return undefined;
  }
}

/** Returns the form field of an error of the register. */
export function fieldOf(message: string): "events" | "conditions" | "target" | undefined {
  if (/"target"/.test(message)) return "target";
  if (/"(conditions|key|condition|value|match)"|condition/.test(message)) return "conditions";
  if (/"events?"|event/.test(message)) return "events";
  return undefined;
}
