/** Requests derived from the OpenAPI document: one for each parameter and each member of an operation. */
import { present } from "../../src/platform/present.ts";
import { alice, bob, chain, unik } from "../../test-support/http/chain.ts";
import type { Document, Operation, Schema } from "../../test-support/http/described.ts";
import { more } from "../../test-support/http/longer.ts";

export type Sample = { method: string; path: string; url: string; payload?: unknown };

/** Values of path parameters, by kind. */
const IDS: Readonly<Record<string, string>> = {
  blocks: "3",
  delegates: bob.address,
  entities: more.entity.data.id,
  locks: more.first.data.id,
  nfts: unik.alice,
  rounds: "2",
  transactions: chain.sent.vote.data.id,
  uniks: unik.alice,
  votes: chain.sent.vote.data.id,
  wallets: alice.address,
};
const NAMED: Readonly<Record<string, string>> = {
  key: "type",
  ip: "203.0.113.9",
  cursor: "start",
  prefix: "0123",
};

/** Replaces the parameters of a path by existing ids. */
export const filled = (path: string): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => NAMED[name] ?? idIn(path));

function idIn(path: string): string {
  if (path.startsWith("/transactions/unconfirmed/")) {
    return present(chain.waiting[0], "a pending transaction").data.id;
  }
  return present(IDS[path.split("/")[1] ?? ""], `an id for ${path}`);
}

/** Texts that match the patterns of the API. */
const TEXTS = [
  ">=5.0.0",
  "height:desc",
  "amount:asc",
  "balance:asc",
  "rank:desc",
  "id:asc",
  "lockId:desc",
  "latency:asc",
  "1",
  "resigned",
  alice.address,
  alice.publicKey,
  more.first.data.id,
  "name",
];

/** Returns a value that a schema admits. */
export function sampleOf(schema: Schema): unknown {
  const { type, enum: choices, minimum = 1, anyOf, properties, items, pattern, examples } = schema;
  if (examples) return examples[0];
  if (choices) return choices[0];
  if (anyOf) return sampleOf(present(anyOf[0], "an alternative"));
  if (type === "integer" || type === "number") return Math.max(minimum, 1);
  if (type === "boolean") return true;
  if (type === "array") return [sampleOf(items ?? {})];
  if (type === "object") return sampleMembers(properties ?? {});
  if (type === undefined) return { id: chain.sent.vote.data.id };
  const text = TEXTS.find((candidate) => new RegExp(pattern ?? "").test(candidate));
  if (text === undefined) throw new Error(`no sample for ${pattern}`);
  return text;
}

const sampleMembers = (properties: Readonly<Record<string, Schema>>) =>
  Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, sampleOf(member)]));

/** Every operation without parameters, and once with each of its parameters. */
export const samplesOf = ({ paths }: Document): Sample[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => operationSamples(method, path, operation)),
  );

function operationSamples(
  method: string,
  path: string,
  { parameters = [], requestBody }: Operation,
): Sample[] {
  const base = { method: method.toUpperCase(), path };
  const url = `/api/v2${filled(path)}`;
  const members = requestBody?.content["application/json"].schema.properties ?? {};
  const required = requestBody ? {} : undefined;
  return [
    { ...base, url, ...(required && { payload: required }) },
    ...parameters
      .filter((parameter) => parameter.in === "query")
      .map(({ name, schema }) => ({
        ...base,
        url: `${url}?${name}=${encodeURIComponent(NAMED[name] ?? String(sampleOf(schema)))}`,
        ...(required && { payload: required }),
      })),
    ...Object.entries(members).map(([name, schema]) => ({
      ...base,
      url,
      payload: { [name]: sampleOf(schema) },
    })),
  ];
}
