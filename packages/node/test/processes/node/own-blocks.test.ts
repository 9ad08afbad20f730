import type { EncodedBlock } from "@uniknode/protocol";
import { expect, test } from "vitest";
import type { Outcome } from "../../../src/chain/outcome.ts";
import { createSubmitBlock } from "../../../src/processes/node/forging.ts";
import type { EventLog } from "../../../src/store/events/event-log.ts";

const block = {
  header: { id: "a", height: 5 },
  transactions: [],
  headerBytes: new Uint8Array(),
} as unknown as EncodedBlock;

const events = { isRecorded: () => true } as unknown as EventLog;

function alone(outcome: Outcome) {
  const given: unknown[] = [];
  const logged: string[] = [];
  const submit = createSubmitBlock({
    peers: undefined,
    events,
    reporter: { log: (...events) => void logged.push(...events.map(({ name }) => name)) },
    chain: {
      async accept(blocks) {
        given.push(...blocks);
        return [outcome];
      },
    },
  });
  return { submit, given, logged };
}

test("Without peers a block goes to the chain as a value, and is logged as received before.", async () => {
  const { submit, given, logged } = alone({ kind: "Accepted" });
  expect(await submit(block)).toBeUndefined();
  expect(given[0]).toBe(block);
  expect(logged).toEqual(["block.received"]);
});

test("A refusal is returned as text.", async () => {
  const { submit } = alone({ kind: "Unchained" });
  expect(await submit(block)).toContain("Unchained");
});

test("With peers, the peers submit and broadcast the block.", async () => {
  const chain = { accept: () => Promise.reject(new Error("not by this way")) };
  const peers = { submitBlock: async ({ header }: EncodedBlock) => `by peers: ${header.height}` };
  expect(await createSubmitBlock({ chain, peers, events, reporter: { log: () => {} } })(block)).toBe(
    "by peers: 5",
  );
});
