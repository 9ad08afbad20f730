/** Limits of the dev commands: the depth of undo records, the available keys, and the first blocks. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  blockToJson,
  createNetwork,
  createRounds,
  createSlots,
  encodeBlock,
  forgeBlock,
  genesisBlockFromJson,
} from "@uniknode/protocol";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { Chain, DEFAULT_CHAIN_OPTIONS } from "../../src/chain/chain.ts";
import { refusalOf } from "../../src/chain/outcome.ts";
import { createDevCommands } from "../../src/dev-chain/commands.ts";
import { DevClock } from "../../src/dev-chain/folder.ts";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { castOf, DEV_ADDRESS_VERSION, devGenesis } from "../../src/dev-chain/network.ts";
import { setupBlocks } from "../../src/dev-chain/setup.ts";
import { delegatesFromSecrets } from "../../src/forger/delegates.ts";
import { Forger } from "../../src/forger/forger.ts";
import { Guard, recordInDatabase } from "../../src/forger/signing/guard.ts";
import { soloTiming } from "../../src/forger/slot-state.ts";
import type { DevCommand } from "../../src/gateway/gateway.ts";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import { SlotStore } from "../../src/store/node/slots.ts";
import { BatchVerifier } from "../../src/verification/verifier.ts";

const cast = castOf(
  deriveAccounts("test test test test test test test test test test test junk", DEV_ADDRESS_VERSION),
  1,
);
const allSecrets = [...cast.founders, ...cast.delegates.map(({ account }) => account)].map(
  (p) => p.passphrase,
);
const { block, files } = devGenesis(cast, 2);
const network = createNetwork(files);
const slots = createSlots(network);
const rounds = createRounds(network);
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Chain and forger of a dev chain, without pool and server. */
async function open({ secrets = allSecrets, undoDepth = 5, isSetUp = true } = {}) {
  const database = openDatabase(":memory:");
  migrate(database);
  const folder = mkdtempSync(join(tmpdir(), "uniknode-limits-"));
  const clock = new DevClock(join(folder, "clock.json"));
  const verifier = new BatchVerifier({ threads: 0 });
  const chain = new Chain(
    { ...DEFAULT_CHAIN_OPTIONS, undoDepth },
    {
      database,
      network,
      genesis: genesisBlockFromJson(blockToJson(block), network),
      verifier,
      events: new EventLog(database, { recordedNames: () => new Set() }),
      eventsOfFacts: () => [],
      eventsOfRevert: () => [],
      now: () => clock.nowMs(),
      onListenerError: (error) => {
        throw error;
      },
    },
  );
  const submit = async (made: typeof block) =>
    refusalOf(present((await chain.accept([encodeBlock(made, network)]))[0]));
  const slotStore = new SlotStore(database);
  const forger = new Forger(
    { timing: soloTiming, onDemand: false },
    {
      delegates: delegatesFromSecrets(secrets),
      slots,
      slotStore,
      guard: new Guard({
        record: recordInDatabase(slotStore),
        otherForger: undefined,
        slotOf: ({ timestamp }) => slots.slotAt(timestamp),
        onRefused: () => {},
      }),
      head: chain.head,
      forgingOrder: () =>
        present(chain.state.get("rounds", String(rounds.roundAt(chain.head().height + 1).round))).order,
      selectTransactions: () => [],
      build: ({ slot, transactions, keys }) =>
        forgeBlock({ network, timestamp: slots.slotTime(slot), previous: chain.head(), transactions }, keys),
      submitBlock: submit,
      preflight: () => undefined,
      onStarted: () => {},
      onForged: () => {},
      onFailed: () => {},
      nowMs: () => clock.nowMs(),
      logger: pino({ level: "silent" }),
    },
  );
  if (isSetUp) {
    for (const made of setupBlocks(network, cast, chain.head(), clock.nowMs())) {
      expect(await submit(made)).toBeUndefined();
    }
  }
  closing.push(async () => {
    await forger.stop();
    await chain.close();
    await verifier.close();
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const pool = { size: () => 0, clear: () => {}, selectWith: () => [] };
  return { chain, run: createDevCommands({ chain, pool, forger, slots }, clock) };
}

const codeOf = (result: Promise<unknown>) =>
  result.then(
    () => "done",
    ({ code }: { code: string }) => code,
  );

test("A restore within the undo depth works, and a deeper one changes nothing.", async () => {
  const { chain, run } = await open({ undoDepth: 5 });
  const { head } = await run({ name: "mine", blocks: 1 });
  await run({ name: "mine", blocks: 1 });
  const next = chain.head().id;
  const { head: top } = await run({ name: "mine", blocks: 5 });
  expect(await codeOf(run({ name: "restore", id: head.id }))).toBe("CHAIN_UNDO_MISSING");
  expect(chain.head().id).toBe(top.id);
  expect((await run({ name: "restore", id: next })).head.id).toBe(next);
  expect((await run({ name: "mine", blocks: 1 })).applied).toHaveLength(1);
});

test("A branch beyond the undo depth is not started.", async () => {
  const { chain, run } = await open({ undoDepth: 5 });
  const { head } = await run({ name: "mine", blocks: 10 });
  expect(await codeOf(run({ name: "reorg", depth: 6, withTransactions: false }))).toBe("CHAIN_UNDO_MISSING");
  expect(chain.head().id).toBe(head.id);
  expect((await run({ name: "reorg", depth: 5, withTransactions: false })).applied).toHaveLength(6);
});

test("Nothing is forged while other nodes have the keys of all active delegates.", async () => {
  const { chain, run } = await open({ secrets: ["another"] });
  expect(await codeOf(run({ name: "mine", blocks: 1 }))).toBe("DEV_DELEGATES");
  expect(chain.head().height).toBe(3);
});

test("Slots of others are skipped.", async () => {
  const [{ account }] = cast.delegates as [(typeof cast.delegates)[number]];
  const { chain, run } = await open({
    secrets: allSecrets.filter((secret) => secret !== account.passphrase),
  });
  const { applied } = await run({ name: "mine", blocks: 30 });
  const generators = new Set(
    applied.map(({ height }) => present(chain.blocks.header(height)).generatorPublicKey),
  );
  expect(generators.size).toBeGreaterThan(5);
  expect(generators).not.toContain(account.publicKey);
});

test.each<DevCommand>([
  { name: "mine", blocks: 1 },
  { name: "snapshot" },
  { name: "restore", id: block.header.id },
])("before the first blocks exist, $name waits", async (command) => {
  const { run } = await open({ isSetUp: false });
  await expect(run(command)).rejects.toMatchObject({ code: "DEV_STARTING", isRetryable: true });
});

test("The first blocks are never reverted.", async () => {
  const { chain, run } = await open();
  await run({ name: "mine", blocks: 1 });
  for (const id of [block.header.id, present(chain.blocks.header(2)).id]) {
    expect(await codeOf(run({ name: "restore", id }))).toBe("DEV_SNAPSHOT");
  }
  expect((await run({ name: "restore", id: present(chain.blocks.header(3)).id })).head.height).toBe(3);
});
