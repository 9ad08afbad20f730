/** Every request of the API document, for every id in the responses. */

import type { InjectOptions } from "fastify";
import type { Server } from "../../../src/http/core/app.ts";
import { present } from "../../../src/platform/present.ts";
import type { Document, Operation, Schema } from "../../../test-support/http/described.ts";

export type Question = { readonly method: string; readonly url: string; readonly payload?: object };

/** Values in responses by the name of their member, including those of reverted blocks. */
export type Known = Map<string, Set<Value>>;
type Value = string | number | boolean;

/** Lists that between them contain every object. */
const SOURCES = [
  "/blocks",
  "/blocks?transform=false",
  "/transactions",
  "/transactions?transform=false",
  "/wallets",
  "/delegates",
  "/uniks",
  "/locks",
  "/entities",
];

/** Members that occur in paths, by the prefix of the path. */
const IN_PATHS: Readonly<Record<string, readonly string[]>> = {
  blocks: ["/blocks id", "/blocks height"],
  delegates: ["/delegates username", "/delegates address"],
  entities: ["/entities id"],
  locks: ["/locks lockId"],
  nfts: ["/uniks id"],
  rounds: ["/blocks height"],
  transactions: ["/transactions id"],
  uniks: ["/uniks id"],
  votes: ["/transactions id"],
  wallets: ["/wallets address", "/wallets publicKey", "/wallets username"],
};

/** Other names of parameters. */
const ALSO_NAMED: Readonly<Record<string, readonly string[]>> = {
  addresses: ["address"],
  approval: ["approval"],
  balance: ["balance"],
  forgedFees: ["fees"],
  forgedRewards: ["rewards"],
  forgedTotal: ["total"],
  ids: ["lockId"],
  ownerId: ["ownerId"],
  producedBlocks: ["produced"],
  senderId: ["sender"],
  timestamp: ["epoch"],
  usernames: ["username"],
  voteBalance: ["votes"],
};

/** Values for each parameter, objects whose lists are requested in every form, and others whose lists are requested in one. */
const MAX_VALUES = 2;
const MAX_THINGS = 2;
const MAX_LISTS = 4;
const KEYS = ["type", "explicitValues", "usr/tea", "usr/gone", "Badges/NP/Delegate", "Badges/XPLevel"];

export async function learn(app: Server, known: Known): Promise<void> {
  for (const source of SOURCES) {
    const { data } = (await app.inject(`/api${source}`)).json() as { data: object[] };
    const [path] = source.split("?");
    for (const row of data) {
      for (const [name, value] of Object.entries(row)) add(known, `${path} ${name}`, value);
      gather(known, row);
    }
  }
}

function gather(known: Known, row: object): void {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === "object" && value !== null) gather(known, value);
    else add(known, name, value);
  }
}

function add(known: Known, name: string, value: unknown): void {
  if (typeof value === "object" || value === undefined) return;
  known.set(name, (known.get(name) ?? new Set()).add(value as Value));
}

const valuesOf = (known: Known, names: readonly string[]): Value[] =>
  names.flatMap((name) => [...(known.get(name) ?? [])]);

/** Returns some of them, from the first to the last. */
function some<T>(all: readonly T[], count: number): T[] {
  if (all.length <= count) return [...all];
  return Array.from({ length: count }, (_, index) =>
    present(all[Math.floor((index * (all.length - 1)) / (count - 1))], "a value"),
  );
}

export const questionsOf = ({ paths }: Document, known: Known): Question[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      // Nothing is submitted.
      .filter(([method]) => method === "get" || path !== "/transactions")
      .flatMap(([method, operation]) => {
        const urls = filled(path, known).map((each) => `/api/v2${each}`);
        const plain = (/^\/\w+\/\{id\}$/.test(path) ? urls : some(urls, MAX_LISTS)).map((url) => ({
          method,
          url,
        }));
        const varied = some(urls, MAX_THINGS).flatMap((url) => variantsOf(method, url, operation, known));
        return method === "get" ? [...plain, ...varied] : varied;
      }),
  );

function filled(path: string, known: Known): string[] {
  if (!path.includes("{")) return [path];
  const [, resource = ""] = path.split("/");
  const ids = valuesOf(known, IN_PATHS[resource] ?? []).map(String);
  return ids.flatMap((id) => {
    const withId = path.replace(/\{id\}/, encodeURIComponent(id));
    return withId.includes("{key}")
      ? KEYS.map((key) => withId.replace("{key}", encodeURIComponent(key)))
      : [withId];
  });
}

function variantsOf(method: string, url: string, { parameters = [], requestBody }: Operation, known: Known) {
  const body = requestBody?.content["application/json"].schema.properties;
  const payload = body && {};
  const queries = parameters
    .filter((one) => one.in === "query")
    .flatMap(({ name, schema }) => textsOf(name, schema, known))
    .map((query) => ({ method, url: `${url}?${query}`, ...(payload && { payload }) }));
  const bodies = Object.entries(body ?? {}).flatMap(([name, schema]) =>
    membersOf(name, schema, known).map((value) => ({ method, url, payload: { [name]: value } })),
  );
  return [...queries, ...bodies];
}

/** Iterates pages of few rows to the end (`ask`). */
function textsOf(name: string, schema: Schema, known: Known): string[] {
  if (name === "page") return ["limit=7", "page=2&limit=5"];
  if (name === "cursor") return ["cursor=start&limit=7"];
  if (name === "offset") return ["offset=3&limit=4"];
  if (name === "limit") return ["limit=1"];
  return membersOf(name, schema, known).map((value) => `${name}=${encodeURIComponent(String(value))}`);
}

function membersOf(name: string, schema: Schema, known: Known): unknown[] {
  const first = schema.anyOf?.[0] ?? schema;
  if (name === "orderBy") return ordersOf(schema);
  if (name === "asset") return [{}, { votes: [] }];
  if (schema.enum) return [...schema.enum];
  if (first.type === "boolean") return [true, false];
  const named = valuesOf(known, [name, ...(ALSO_NAMED[name] ?? [])]);
  if (first.type === "array") return [some(named, MAX_VALUES)];
  if (first.type === "string") return some(named, MAX_VALUES);
  const numbers = some(
    named.map(Number).filter((value) => value >= (first.minimum ?? 0)),
    MAX_VALUES,
  );
  return first.type === "object" ? numbers.flatMap((value) => [{ from: value }, { to: value }]) : numbers;
}

/** Every field in both directions. If any text will do, it is that of the uniks. */
function ordersOf({ pattern = "" }: Schema): string[] {
  const [, fields = "id|ownerId"] = /([\w|]+)\):/.exec(pattern) ?? [];
  return fields.split("|").flatMap((field) => [`${field}:asc`, `${field}:desc`]);
}

/** Status and body, and those of all following pages. */
export async function ask(app: Server, { method, url, payload }: Question): Promise<string[]> {
  const responses: string[] = [];
  for (let next: string | null = url; next !== null; ) {
    const requested: InjectOptions = { method: method as "GET", url: next, ...(payload && { payload }) };
    const { statusCode, headers, body } = await app.inject(requested);
    responses.push(`${statusCode} ${headers.etag ?? ""} ${body}`);
    const isWalk: boolean = /[?&]limit=7/.test(url) && statusCode === 200;
    next = isWalk ? (JSON.parse(body) as { meta: { next: string | null } }).meta.next : null;
  }
  return responses;
}
