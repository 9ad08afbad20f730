/** Passing on what arrived (p2p.md 12.1 and 12.2). */
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createSightings } from "../../src/peers/arrivals/sightings.ts";
import { createBlockBroadcast } from "../../src/peers/broadcast/blocks.ts";
import { createTransactionBroadcast } from "../../src/peers/broadcast/transactions.ts";
import type { Outgoing } from "../../src/peers/transport/outgoing.ts";
import { network, openTestChain } from "./chains.ts";

const logger = pino({ level: "silent" });
const peers = Array.from({ length: 40 }, (_, index) => `203.0.113.${index}`);

type Sent = { ip: string; event: string; argument: Record<string, unknown> };
function sending() {
  const sent: Sent[] = [];
  const ask = (async (ip: string, event: string, argument: Sent["argument"]) => {
    sent.push({ ip, event, argument });
  }) as unknown as Outgoing["ask"];
  return { sent, ask };
}

describe("a block", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  async function broadcast(seen: { count: number; spreadMs?: number; later?: boolean }): Promise<number> {
    const world = openTestChain();
    const block = world.make(5);
    const sightings = createSightings();
    if (seen.count > 0) {
      sightings.begin(block.header, 0, 1);
      for (let count = 1; count < seen.count; count++) sightings.count(block.header, seen.spreadMs ?? 0);
    } else sightings.begin(block.header, 0, 0);
    const { sent, ask } = sending();
    const send = createBlockBroadcast({ network, peers: () => peers, ask, sightings, logger });
    const done = send(block);
    if (seen.later) sightings.begin({ id: "another", height: 9 }, 1, 1);
    await vi.advanceTimersByTimeAsync(500);
    await done;
    await world.close();
    expect(new Set(sent.map(({ ip }) => ip)).size).toBe(sent.length);
    return sent.length;
  }

  test.each([
    ["of our own goes to everybody", { count: 0 }, 40],
    ["seen once goes to three quarters", { count: 1 }, 30],
    ["seen twice goes to half", { count: 2 }, 20],
    ["seen four times goes to nobody", { count: 4 }, 0],
    ["that another one overtook meanwhile goes to nobody", { count: 1, later: true }, 0],
    ["watched for long enough is sent at once", { count: 3, spreadMs: 500 }, 10],
  ])("%s", async (_, seen, recipients) => {
    expect(await broadcast(seen)).toBe(recipients);
  });
});

describe("transactions", () => {
  const answer = (broadcast: string[]) => ({ data: { accept: [], broadcast, excess: [], invalid: [] } });
  const items = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `${index}` }));

  test("go to twenty peers, those alone that the pool wants to be passed on", async () => {
    const { sent, ask } = sending();
    const send = createTransactionBroadcast({ peers: () => peers, ask, logger });
    await send(items(3), answer(["0", "2"]));
    expect(sent).toHaveLength(20);
    expect(sent[0]).toMatchObject({
      event: "p2p.peer.postTransactions",
      argument: { transactions: [{ id: "0" }, { id: "2" }] },
    });
  });

  test("are never more than forty in one message, nor larger than any peer takes", async () => {
    const { sent, ask } = sending();
    const send = createTransactionBroadcast({ peers: () => ["203.0.113.1"], ask, logger });
    const large = { id: "large", asset: Object.fromEntries(items(200).map(({ id }) => [id, id])) };
    await send([...items(45), large], answer([...items(45).map(({ id }) => id), "large"]));
    expect(sent.map(({ argument }) => (argument.transactions as object[]).length)).toEqual([40, 5]);
  });

  test("that nobody wants are not sent", async () => {
    const { sent, ask } = sending();
    await createTransactionBroadcast({ peers: () => peers, ask, logger })(items(3), answer([]));
    expect(sent).toEqual([]);
  });
});
