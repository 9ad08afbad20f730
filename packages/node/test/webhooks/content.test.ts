/** Contents that exceed the size limit of a delivery. */
import { describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { createFit } from "../../src/subscriptions/content.ts";
import { always, blockApplied, blockReverted, createService } from "../../test-support/webhooks/support.ts";

const LIMIT = 300;
const large = "é".repeat(LIMIT);
const fit = createFit(LIMIT);

describe("a content", () => {
  test.each([undefined, "true", `"${"x".repeat(LIMIT - 2)}"`, `"${"é".repeat(LIMIT / 2 - 1)}"`])(
    "A content within the limit is unchanged.",
    (dataText) => {
      expect(fit("block.applied", dataText)).toEqual({ dataText });
    },
  );

  test.each([
    ["block.received", { id: "b", height: 7 }, "/api/v2/blocks/b"],
    ["transaction.applied", { id: "t" }, "/api/v2/transactions/t"],
    ["delegate.registered", { id: "t" }, "/api/v2/transactions/t"],
    ["unik.updated", { tokenId: "u", ownerId: "A" }, "/api/v2/uniks/u"],
    ["wallet.saved", { address: "A", publicKey: "02" }, "/api/v2/wallets/A"],
    ["wallet.vote", {}, undefined],
    ["peer.added", {}, undefined],
  ])("A content of %s is reduced to its subject and position.", (event, naming, link) => {
    expect(fit(event, JSON.stringify({ ...naming, large }))).toEqual({
      dataText: JSON.stringify(naming),
      truncated: true,
      ...(link !== undefined && { link }),
    });
  });

  test("A content that is a list keeps its length.", () => {
    const { dataText, link } = fit(
      "transaction.pool.added",
      JSON.stringify([{ id: "a", large }, 7, { id: "b" }]),
    );
    expect([dataText, link]).toEqual(['[{"id":"a"},null,{"id":"b"}]', undefined]);
  });

  test("A content that is one large text is omitted.", () => {
    expect(fit("forger.failed", JSON.stringify(large))).toEqual({ dataText: "null", truncated: true });
  });
});

test("Conditions see the complete content if it is too large to be sent, and its retraction is reduced as well.", async () => {
  const { webhooks, emit, calls } = createService({ options: { maxContentBytes: LIMIT } });
  const conditions = [{ key: "large", condition: "contains", value: "é" }];
  for (let id = 1; id <= 2; id++) await webhooks.register.create({ ...always(), conditions });
  const { data, ...block } = blockApplied(1);
  await emit({ ...block, data: { ...(data as object), large } }, blockReverted(1));
  for (const webhook of [1, 2]) {
    const messages = calls.flatMap(({ message }) => (message.webhookId === webhook ? [message] : []));
    const naming = { id: "block1", height: 1 };
    expect(messages).toMatchObject([
      { event: "block.applied", data: naming, truncated: true, link: "/api/v2/blocks/block1" },
      { event: "block.reverted", data: naming, reverts: present(messages[0]).id },
    ]);
    expect(present(messages[0]).data).toEqual(naming);
  }
});
