import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Errors } from "typebox/value";
import { expect, test } from "vitest";
import { EVENTS, loggedName } from "../../src/events/catalogue.ts";
import { DATA_SCHEMAS } from "../../src/events/schemas.ts";
import { present } from "../../src/platform/present.ts";
import { CHAINS } from "../../test-support/chain/fixtures.ts";
import { eventsOfChain } from "../../test-support/events/samples.ts";

const seen = new Set<string>();

test.each(CHAINS)("Every event of %s has exactly the documented content.", async (name) => {
  for (const { name: event, data } of await eventsOfChain(name)) {
    seen.add(event);
    const schema = DATA_SCHEMAS[event];
    if (schema === undefined) expect([event, data]).toEqual(["round.applied", undefined]);
    else expect([event, Errors(schema, JSON.parse(JSON.stringify(data)))]).toEqual([event, []]);
  }
});

test("Every event is among the samples, and all except one have content.", () => {
  const names = new Set(Object.keys(EVENTS).map(loggedName));
  expect(seen).toEqual(names);
  expect(new Set([...Object.keys(DATA_SCHEMAS), "round.applied"])).toEqual(names);
});

test("The reference shows a valid example of each event.", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../../docs/reference/events.md"), "utf8");
  const examples = page.matchAll(/^### (\S+)\n\n[^\n]*\n\n```json\n(.*?)\n```$/gms);
  const shown = new Map(
    [...examples].map(([, name, text]) => [present(name, "name"), JSON.parse(present(text, "text"))]),
  );
  expect(new Set(shown.keys())).toEqual(new Set(Object.keys(DATA_SCHEMAS)));
  for (const [name, data] of shown) {
    expect([name, Errors(present(DATA_SCHEMAS[name], "an item of DATA_SCHEMAS"), data)]).toEqual([name, []]);
  }
});

test("A schema refuses other content.", () => {
  const schema = present(DATA_SCHEMAS["forger.failed"], "forger.failed");
  for (const data of [{}, { error: 7 }, { error: "x", stack: "y" }, null]) {
    expect(Errors(schema, data)).not.toEqual([]);
  }
});
