/** `uniknode webhooks hand-over` on real processes: a dev chain, its mirror, delivery workers, and a receiver. */
import { afterAll, beforeAll, describe, test } from "vitest";
import { type HandOverChain, startHandOverChain } from "../../test-support/hand-over/chain.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";

let chain: HandOverChain;
beforeAll(async () => {
  if (hasPostgres) chain = await startHandOverChain();
}, 120_000);
afterAll(() => chain?.close());

describe.skipIf(!hasPostgres)("webhooks", () => {
  test("are sent by workers after a hand-over, and by the node again after another one.", async () => {
    const webhook = await chain.register("a", { event: "block.applied", order: "strict" });
    await chain.command("mine", { blocks: 3 });
    await chain.handOver("workers");
    chain.startWorker("w1");
    await chain.command("mine", { blocks: 3 });
    await chain.arrived(webhook);
    await chain.handOver("node");
    await chain.command("mine", { blocks: 3 });
    await chain.arrived(webhook);
    await chain.checkBlocks(webhook, { isStrict: true });
  }, 120_000);
});
