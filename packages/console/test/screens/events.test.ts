/** Names of events in the console, compared with the reference of the node. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { present } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { STORED_EVENTS } from "../../src/screens/blocks/stored-events.ts";
import { EVENT_GROUPS } from "../../src/screens/webhooks/new/event-names.ts";

const REFERENCE = join(import.meta.dirname, "../../../../docs/reference/events.md");
const ROW = /^\| \[`([\w.:]+)`\].*\| *(yes)? *\|$/gm;
const rows = [...readFileSync(REFERENCE, "utf8").matchAll(ROW)].map(([, name, stored]) => ({
  name: present(name),
  isStored: stored !== undefined,
}));

test("Every event of the reference can be chosen, except aliases.", () => {
  const listed = rows.map(({ name }) => name).filter((name) => name !== "state:started");
  const offered = EVENT_GROUPS.flatMap(({ events }) => events.map(([name]) => name));
  expect(new Set(offered)).toEqual(new Set(listed));
});

test("The page of a block requests every event that stored blocks have.", () => {
  const stored = rows.filter(({ isStored }) => isStored).map(({ name }) => name);
  expect(stored.length).toBeGreaterThan(10);
  expect(new Set<string>(STORED_EVENTS)).toEqual(new Set(stored));
});
