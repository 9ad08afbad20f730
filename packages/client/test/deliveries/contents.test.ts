import { expect, expectTypeOf, test } from "vitest";
import { type Delivery, isEvent, type StreamedEvent } from "../../src/index.ts";

const delivery: Delivery = {
  id: "msg_1",
  event: "unik.minted",
  timestamp: 1,
  webhookId: 1,
  data: { tokenId: "ab" },
};

test("The name of an event determines the type of its content.", () => {
  expect(isEvent(delivery, "unik.minted")).toBe(true);
  expect(isEvent(delivery, "unik.updated")).toBe(false);
  if (isEvent(delivery, "unik.minted")) {
    expectTypeOf<typeof delivery.data.transaction.amount>().toEqualTypeOf<string>();
    expectTypeOf<typeof delivery.webhookId>().toEqualTypeOf<number>();
  }
});

test("A list has a type, and so does the content of a streamed event.", () => {
  const streamed: StreamedEvent = { id: "a", event: "transaction.pool.added", position: "1", data: [] };
  if (isEvent(streamed, "transaction.pool.added")) {
    expectTypeOf<(typeof streamed.data)[number]["fee"]>().toEqualTypeOf<string>();
  }
  expect(isEvent(streamed, "transaction.pool.added")).toBe(true);
});

test("A content that was too large to be sent does not have the event's type.", () => {
  expect(isEvent({ ...delivery, truncated: true }, "unik.minted")).toBe(false);
});
