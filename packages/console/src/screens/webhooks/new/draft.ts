/** A webhook that is being made: kept in the address of the page, so that it can be linked to and survives a reload. */
import type { Condition, NewWebhook } from "@uniknode/client";

export type DraftCondition = {
  readonly key: string;
  readonly condition: Condition["condition"];
  readonly value: string;
};

export type Draft = {
  /** A name for people; empty if there is none. */
  readonly name: string;
  /** Names and patterns. */
  readonly events: readonly string[];
  /** None: every event is delivered. */
  readonly conditions: readonly DraftCondition[];
  readonly match: "any" | "all";
  readonly target: string;
  readonly order: "parallel" | "strict";
  readonly confirmations: number;
  readonly ping: boolean;
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

/** What makes no sense in an address is left out. */
export function draftOf(query: Readonly<Record<string, string>>): Draft {
  const { name = "", events = "", conditions, match, target = "", order, confirmations = "", ping } = query;
  const count = /^\d{1,5}$/.test(confirmations) ? Number(confirmations) : 0;
  return {
    name: name.slice(0, MAX_NAME_LENGTH),
    events: events.split(/[\s,]+/).filter((name) => name !== ""),
    conditions: conditionsOf(conditions),
    match: match === "all" ? "all" : "any",
    target,
    order: order === "strict" ? "strict" : "parallel",
    confirmations: Math.min(count, MAX_CONFIRMATIONS),
    ping: ping !== "no",
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

/** Parameters of the address; an empty text stands for the default. */
export const queryOf = (draft: Draft): Record<string, string> => ({
  name: draft.name,
  events: draft.events.join(","),
  conditions: draft.conditions.length > 0 ? JSON.stringify(draft.conditions) : "",
  match: draft.match === "all" ? "all" : "",
  target: draft.target,
  order: draft.order === "strict" ? "strict" : "",
  confirmations: draft.confirmations > 0 ? `${draft.confirmations}` : "",
  ping: draft.ping ? "" : "no",
});

/** What a registration and a dry run have in common. A condition without a key is not finished, and not sent. */
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
    // One name is the `event` of the register; more of them, and patterns, are its `events`.
    ...(first !== undefined && others.length === 0 && !first.includes("*") ? { event: first } : { events }),
    conditions: finished,
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
  ...(draft.ping && { ping: true }),
});

/** The paths of a content that a condition can name, such as `asset.nft.unik.tokenId`. */
export function pathsOf(content: unknown, prefix = "", depth = 4): string[] {
  // A condition on a list holds if it holds for one element.
  const value = Array.isArray(content) && prefix === "" ? content[0] : content;
  if (typeof value !== "object" || value === null || Array.isArray(value) || depth === 0) {
    return prefix === "" ? [] : [prefix];
  }
  return Object.entries(value).flatMap(([name, member]) =>
    pathsOf(member, prefix === "" ? name : `${prefix}.${name}`, depth - 1),
  );
}

/** The field of the form that an error of the register names. */
export function fieldOf(message: string): "events" | "conditions" | "target" | undefined {
  if (/"target"/.test(message)) return "target";
  if (/"(conditions|key|condition|value|match)"|condition/.test(message)) return "conditions";
  if (/"events?"|event/.test(message)) return "events";
  return undefined;
}
