/** Compares a response with the one that a case expects. */
import { isDeepStrictEqual } from "node:util";
import { present } from "../../src/platform/present.ts";
import type { Case, Json, NodeResponse, Order } from "./case.ts";
import { removeAt, setAt, valueAt } from "./paths.ts";

/** Mismatches of the response; empty if there are none. Undefined: the case does not apply to this node. */
export function faultsOf(expectation: Case, response: NodeResponse, base: string): string[] | undefined {
  const { expect, differs = [], defect } = expectation;
  if (defect !== null && differs.length === 0) return undefined;
  const expected = clone({ status: expect.status, headers: expect.headers, body: expect.body });
  const actual = clone({ status: response.status, headers: headersOf(response), body: response.body });
  const faults: string[] = [];

  for (const path of expectation.sizeOnly ?? []) {
    for (const side of [expected, actual]) setAt(side, path, sizeOf(valueAt(side, path)));
  }
  for (const { path, value, ignore, digits } of differs) {
    if (ignore) for (const side of [expected, actual]) removeAt(side, path);
    else if (value !== undefined) {
      setAt(expected, path, value);
      if (expectation.sizeOnly?.includes(path))
        setAt(actual, path, valueAt({ body: response.body }, path) ?? null);
    }
    if (digits !== undefined && !hasDigits(response.text, path, digits))
      faults.push(`${path}: digits ${digits} missing`);
  }
  const order = differs.some(({ path }) => path === expectation.order?.path) ? undefined : expectation.order;
  const keys = order && [expected, actual].map((side) => keysOf(valueAt(side, order.path), order));
  for (const path of expectation.volatile) for (const side of [expected, actual]) removeAt(side, path);
  for (const path of expectation.unordered ?? []) {
    for (const side of [expected, actual]) setAt(side, path, sorted(valueAt(side, path)));
  }
  if (order && keys) faults.push(...orderFaults(order, keys, expected, actual));
  // Failed requests to the old network exceeded its rate limit.
  if (differs.some(({ path }) => path === "$.status")) removeAt(expected, "$.headers.x-ratelimit");
  allowAdditions(expected, actual);
  compareHeaders(expected, actual, base);
  difference("$", expected, actual, faults);
  return faults;
}

const clone = (value: unknown): Json => JSON.parse(JSON.stringify(value));

const headersOf = ({ headers }: NodeResponse) => ({
  ...headers,
  "x-ratelimit": ["limit", "remaining", "reset"].every(
    (name) => headers[`x-ratelimit-user${name}`] !== undefined,
  ),
});

const sizeOf = (list: Json | undefined): Json => (Array.isArray(list) ? list.length : null);

const text = (value: Json): string => {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(text).join()}]`;
  return `{${Object.keys(value)
    .sort()
    .map((key) => `${key}:${text(value[key] as Json)}`)
    .join()}}`;
};

const sorted = (list: Json | undefined): Json =>
  Array.isArray(list) ? list.toSorted((a, b) => (text(a) < text(b) ? -1 : 1)) : (list ?? null);

/** Returns true if the last member of the path has exactly these digits in the text. */
const hasDigits = (body: string, path: string, digits: string): boolean =>
  new RegExp(`"${path.split(".").at(-1)}":${digits}[,}]`).test(body);

/** Keys of the rows of a sorted list. */
const keysOf = (list: Json | undefined, { by, absentAs }: Order): Json[] =>
  (Array.isArray(list) ? list : []).map((row) => valueAt(row, by) ?? absentAs ?? null);

/** Compares the sequences of keys, and for each key the rows in any order. Removes what it compared. */
function orderFaults(order: Order, [theirKeys, ourKeys]: Json[][], expected: Json, actual: Json): string[] {
  const theirs = groups(valueAt(expected, order.path), present(theirKeys));
  const ours = groups(valueAt(actual, order.path), present(ourKeys));
  const faults: string[] = [];
  for (let index = 0; index < Math.max(theirs.length, ours.length); index += 1) {
    const [a, b] = [theirs[index], ours[index]];
    if (!a || !b || !isDeepStrictEqual(a.key, b.key) || a.rows.length !== b.rows.length) {
      faults.push(
        `order by ${order.by}: group ${index} is ${b && text(b.key)} instead of ${a && text(a.key)}`,
      );
      break;
    }
    if ((index === 0 && order.openStart) || (index === theirs.length - 1 && order.openEnd)) continue;
    difference(`${order.path}<${text(a.key)}>`, sorted(a.rows), sorted(b.rows), faults);
  }
  for (const side of [expected, actual]) removeAt(side, order.path);
  return faults;
}

function groups(list: Json | undefined, keys: readonly Json[]): { key: Json; rows: Json[] }[] {
  const found: { key: Json; rows: Json[] }[] = [];
  for (const [index, key] of keys.entries()) {
    const row = (list as Json[])[index] as Json;
    const last = found.at(-1);
    if (last && isDeepStrictEqual(last.key, key)) last.rows.push(row);
    else found.push({ key, rows: [row] });
  }
  return found;
}

/** Removes members that a response may have in addition to the recorded ones, and texts for humans. */
function allowAdditions(expected: Json, actual: Json): void {
  if (valueAt(expected, "$.body.chainmeta") === undefined) removeAt(actual, "$.body.chainmeta");
  if (valueAt(expected, "$.body.meta.totalCountIsEstimate") === undefined) {
    removeAt(actual, "$.body.meta.totalCountIsEstimate");
  }
  const status = valueAt(expected, "$.status") as number;
  if (status >= 400 && status !== 404)
    for (const side of [expected, actual]) removeAt(side, "$.body.message");
  const errors = valueAt(expected, "$.body.errors");
  for (const id of Object.keys(errors ?? {})) {
    for (const side of [expected, actual]) removeAt(side, `$.body.errors.${id}[*].message`);
  }
}

/** Keeps only the headers that are compared, with the expected values. */
function compareHeaders(expected: Json, actual: Json, base: string): void {
  const wanted = valueAt(expected, "$.headers") as Record<string, Json>;
  const given = valueAt(actual, "$.headers") as Record<string, Json>;
  const shown: Record<string, Json> = {};
  for (const [name, value] of Object.entries(wanted)) {
    if (typeof value === "string") wanted[name] = value.replace("{BASE}", base);
    shown[name] = given[name] ?? null;
  }
  setAt(actual, "$.headers", shown);
}

function difference(path: string, expected: Json, actual: Json, faults: string[]): void {
  if (isDeepStrictEqual(expected, actual)) return;
  const isObject = (value: Json) => value !== null && typeof value === "object";
  if (!isObject(expected) || !isObject(actual) || Array.isArray(expected) !== Array.isArray(actual)) {
    faults.push(`${path}: ${brief(actual)} instead of ${brief(expected)}`);
    return;
  }
  const [theirs, ours] = [expected as Record<string, Json>, actual as Record<string, Json>];
  for (const key of new Set([...Object.keys(theirs), ...Object.keys(ours)])) {
    if (!(key in ours)) faults.push(`${path}.${key}: missing, ${brief(theirs[key] as Json)}`);
    else if (!(key in theirs)) faults.push(`${path}.${key}: additional, ${brief(ours[key] as Json)}`);
    else difference(`${path}.${key}`, theirs[key] as Json, ours[key] as Json, faults);
  }
}

const brief = (value: Json): string => {
  const full = JSON.stringify(value);
  return full.length > 160 ? `${full.slice(0, 160)}...` : full;
};
