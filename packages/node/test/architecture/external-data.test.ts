/** One mechanism validates external JSON (docs/architecture.md, "External data"). */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SOURCE = fileURLToPath(new URL("../../src", import.meta.url));

/** Files that parse JSON without `parseExternal`, or rooms of which all files can, with the reason. */
const PARSERS: Readonly<Record<string, string>> = {
  "platform/json/": "the mechanism itself, and the parser that keeps the text of numbers",
  "platform/logging/": "log lines of this program",
  "platform/lifecycle/program.ts": "package.json of this program",
  "verification/native.ts": "a file whose checksum is known",
  "store/": "rows of the database of this node",
  "read/rows.ts": "rows of the database of this node",
  "read/sqlite/": "rows of the database of this node",
  "webhooks/storage/webhooks.ts": "rows of the database of this process",
  "webhooks/matching/definitions.ts": "rows of the database of this node",
  "rpc/methods.ts": "rows of the database of this companion",
  "archive/copy.ts": "rows of the database of this node",
  "facts/uniks/rows.ts": "rows that this node wrote",
  "mirror/blocks.ts": "rows of the database of this mirror",
  "event-log/postgres/": "rows of the database of this mirror",
  "subscriptions/content.ts": "events of this node",
  "subscriptions/conditions/": "operands that a reader has checked",
  "stream/subscription.ts": "conditions that a reader has checked",
  "webhooks/proof-text.ts": "contents that this program wrote",
  "webhooks/dry-run.ts": "conditions that a reader has checked",
  "http/webhooks/responses.ts": "rows, and bodies whose members readers check",
  "http/stream/routes.ts": "conditions whose members readers check",
  "http/core/bodies.ts": "bodies that the schemas of routes check",
  "webhooks/sqlite/import-register.ts": "a register whose members readers check",
  "peers/wire/": "frames: parsed in steps and bounded while parsed, then checked by forms",
  "mirror/line.ts": "lines of a feed, checked by a schema",
};

/** Files that import a library of schemas. */
const VALIDATORS: Readonly<Record<string, string>> = {
  "platform/json/form.ts": "the mechanism itself",
  "platform/json/schema.ts": "types of its schemas",
  "http/requests/parameters.ts": "the schemas of routes",
  "http/server/server.ts": "types of the schemas of routes",
  "http/core/app.ts": "types of the schemas of routes",
};

const PARSES = /\bJSON\.parse\(|\bparseJson\(|\.json\(\)/;
const VALIDATES = /from "(?:ajv|typebox|@fastify\/type-provider-typebox)|\("ajv"\)/;

const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => ({ path, text: readFileSync(join(SOURCE, path), "utf8") }));

const matching = (pattern: RegExp): string[] =>
  files.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

const isListed = (list: object, path: string): boolean =>
  Object.keys(list).some((listed) => (listed.endsWith("/") ? path.startsWith(listed) : path === listed));

test("Files that parse external JSON use parseExternal; all others are listed with a reason.", () => {
  expect(files.length).toBeGreaterThan(500);
  expect(matching(PARSES).filter((path) => !isListed(PARSERS, path))).toEqual([]);
});

test("Only forms and the schemas of routes use a library of schemas.", () => {
  expect(matching(VALIDATES).sort()).toEqual(Object.keys(VALIDATORS).sort());
});

test("Every listed file parses JSON.", () => {
  const parsing = matching(PARSES);
  const unused = Object.keys(PARSERS).filter((listed) => !parsing.some((path) => path.startsWith(listed)));
  expect(unused).toEqual([]);
});
