/** The view of a receiver: bounds of its probe, and differences from the expected facts. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Messages } from "../../src/conform/messages.ts";
import { differenceOf, readView, type ShownFact } from "../../src/conform/view.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";

async function probeWith(text: string, status = 200): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status).end(text));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const read = (url: string) => readView(url, AbortSignal.timeout(WAIT_MS));
const viewOf = (facts: unknown): string => JSON.stringify({ facts });
const SHOWN = { id: "a", event: "b" };

test("The probe shows facts, with further members and without a block.", async () => {
  const facts = [
    { ...SHOWN, height: 1, blockId: "c", more: true },
    { ...SHOWN, height: null, blockId: null },
    SHOWN,
  ];
  expect(await read(await probeWith(viewOf(facts)))).toEqual(facts);
});

test.each([
  ["a text", "it is not JSON", "facts"],
  ["another form", "/facts must be array", viewOf({})],
  ["a fact without an id", "must have required property 'id'", viewOf([{ event: "b" }])],
  [
    "a long id",
    "/facts/0/id must NOT have more than 200 characters",
    viewOf([{ ...SHOWN, id: "x".repeat(201) }]),
  ],
  ["too many facts", "must NOT have more than 20000 items", viewOf(Array(20_001).fill(SHOWN))],
  ["deep nesting", "it has more than 8 nested levels", viewOf([{ ...SHOWN, more: [[[[[[[[]]]]]]]] }])],
  ["too many bytes", "the text is longer than 8388608 bytes", `"${"x".repeat(9 * 1_048_576)}"`],
])("A probe with %s is refused with the reason.", async (_, reason, text) => {
  const url = await probeWith(text);
  await expect(read(url)).rejects.toMatchObject({
    code: "PROBE_FAILED",
    message: expect.stringMatching(new RegExp(`^failed to read ${url}: .*${reason}`)),
  });
});

test("A probe with another status than 200 is refused, redirects included.", async () => {
  for (const status of [204, 302, 404, 500]) {
    await expect(read(await probeWith("", status))).rejects.toThrow(`it responded with status ${status}`);
  }
});

const fact = new Messages({ webhook: 1, event: "block.applied", nowMs: Date.now }).fact();
const { id, event, height = 0, blockId = "" } = fact;
const shown: ShownFact = { id, event, height, blockId };
const differenceIn = (view: readonly ShownFact[], handled = event): string | undefined =>
  differenceOf(view, { sent: [id], facts: [fact], event: handled });

test("A view is the expected one if it has each fact once; facts of others do not matter.", () => {
  expect(differenceIn([shown, { ...shown, id: "other" }, { ...shown, id: "other" }])).toBeUndefined();
  expect(differenceIn([])).toBe(`block.applied ${id} is missing in its view`);
  expect(differenceIn([shown, shown, shown])).toBe(`its view has block.applied ${id} 3 times`);
  expect(differenceOf([shown], { sent: [id], facts: [], event })).toBe(
    `block.applied ${id} must not be in its view`,
  );
});

test("A fact of an event that the receiver does not handle can be absent, but not wrong.", () => {
  expect(differenceIn([], "transaction.applied")).toBeUndefined();
  expect(differenceIn([shown, shown], "transaction.applied")).toMatch(/2 times$/);
});

test.each([
  ["event", { event: "block.forged" }, '"block.forged" instead of "block.applied"'],
  ["height", { height: height + 1 }, `${height + 1} instead of ${height}`],
  ["blockId", { blockId: null }, `null instead of "${blockId}"`],
])("A fact with another %s is a difference.", (name, change, text) => {
  expect(differenceIn([{ ...shown, ...change }])).toBe(
    `its view has block.applied ${id} with "${name}" ${text}`,
  );
});
