/** Messages of scenarios have the contents, names and ids of a node. */
import { expect, test } from "vitest";
import { Messages } from "../../src/conform/messages.ts";
import { DATA_SCHEMAS } from "../../src/events/schemas.ts";
import { formOf } from "../../src/platform/json/form.ts";
import { present } from "../../src/platform/present.ts";

const messages = new Messages({ webhook: 3, event: "block.applied", nowMs: () => 1_795_223_920_119 });

test.each(["block.applied", "transaction.applied", "unik.minted"] as const)(
  "The content of %s has the form of the event.",
  (event) => {
    const { content } = messages.fact({ event });
    expect(formOf(present(DATA_SCHEMAS[event])).violation(JSON.parse(present(content.dataText)))).toBe("");
  },
);

test("A retraction has the place and content of its fact, and an id of its own.", () => {
  const fact = messages.fact({ event: "unik.minted" });
  const retraction = messages.retraction(fact);
  const { id, height, blockId, content, sequence } = fact;
  expect(retraction).toMatchObject({ height, blockId, content, reverts: id, event: "unik.minted.reverted" });
  expect(retraction.id).not.toBe(id);
  expect(retraction.sequence).toBe(present(sequence) + 1);
});

test("A fact of a block that is applied again has a new id, and one of a sibling another block.", () => {
  const place = messages.place();
  const [first, again] = [messages.fact({ place }), messages.fact({ place, timesReverted: 1 })];
  expect(again.blockId).toBe(first.blockId);
  expect(again.id).not.toBe(first.id);
  const sibling = messages.fact({ place: messages.sibling(place) });
  expect(sibling.height).toBe(first.height);
  expect(sibling.blockId).not.toBe(first.blockId);
});

test("Heights, sequences and epochs of a later run are higher.", () => {
  const later = new Messages({ webhook: 3, event: "block.applied", nowMs: () => 1_795_224_000_000 });
  const [before, after] = [messages.fact(), later.fact()];
  expect(present(after.height)).toBeGreaterThan(present(before.height));
  expect(present(after.sequence)).toBeGreaterThan(present(before.sequence));
  expect(later.epoch()).toBeGreaterThan(messages.epoch());
});
