/** Converts the filters in the URL of a live tail to the filters of a stream. */
import type { Condition, StreamOptions } from "@uniknode/client";
import { programOf as programAround } from "../../components/equivalents.ts";

export type Choice = Pick<StreamOptions, "events" | "conditions" | "fromHeight">;

const OPERATORS: readonly Condition["condition"][] = [
  "eq",
  "ne",
  "contains",
  "gt",
  "gte",
  "lt",
  "lte",
  "regexp",
  "truthy",
  "falsy",
];

export const OPERATOR_OPTIONS = OPERATORS.map((value) => ({
  value: value === "eq" ? "" : value,
  label: value,
}));

/** @param query events (separated by commas), key, condition, value and from (height); empty values mean no filter */
export function choiceOf({ events = "", key = "", condition, value = "", from = "" }: Query): Choice {
  const names = events.split(/[\s,]+/).filter((name) => name !== "");
  const operator = OPERATORS.find((operator) => operator === condition) ?? "eq";
  const needsValue = operator !== "truthy" && operator !== "falsy";
  return {
    ...(names.length > 0 && { events: names }),
    ...(key !== "" && { conditions: [{ key, condition: operator, ...(needsValue && { value }) }] }),
    ...(/^[1-9]\d{0,14}$/.test(from) && { fromHeight: Number(from) }),
  };
}

type Query = Readonly<Record<string, string>>;

/** Returns the URL of the form for a webhook with these filters. */
export function webhookHref({ events = ["*"], conditions }: Choice): string {
  const query = new URLSearchParams({ events: events.join(",") });
  if (conditions) query.set("conditions", JSON.stringify(conditions));
  return `/console/webhooks/new?${query}`;
}

/** Builds the curl command of the stream, with `$TOKEN` for the webhook token. */
export function curlOf({ events, conditions, fromHeight }: Choice, origin: string): string {
  const query = new URLSearchParams();
  if (events) query.set("events", events.join(","));
  if (conditions) query.set("conditions", JSON.stringify(conditions));
  if (fromHeight !== undefined) query.set("fromHeight", `${fromHeight}`);
  // Encoding does not escape single quotes.
  const text = `${query}`.replaceAll("'", "%27");
  return `curl -N -H "Authorization: $TOKEN" '${origin}/api/v2/events${text && `?${text}`}'`;
}

/** Builds the code of the stream. */
export function programOf(choice: Choice, origin: string): string {
  const options = Object.keys(choice).length === 0 ? "" : JSON.stringify(choice, null, 2);
  return programAround(
    `for await (const event of client.events.stream(${options})) {\n  console.log(event);\n}`,
    origin,
  );
}
