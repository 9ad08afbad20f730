import { join } from "node:path";
import { createNetwork } from "@uniknode/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { isRemembered } from "../../src/event-log/history.ts";
import { SqlitePastEvents } from "../../src/event-log/sqlite/history.ts";
import { EVENTS } from "../../src/events/catalogue.ts";
import { present } from "../../src/platform/present.ts";
import { createOwnerStore } from "../../src/store/chain/fact-lookups.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import {
  blocksOf,
  CHAINS,
  openChain,
  readChain,
  temporaryFolder,
} from "../../test-support/chain/fixtures.ts";

/** Events whose delegates are derived with fewer members than were recorded originally. */
const REDUCED = ["forger.missing", "round.missed", "round.created"];

/** A chain in a file, with all events that were recorded while it was built. */
async function grow(name: string) {
  const folder = temporaryFolder();
  const content = readChain(name);
  const { chain, database, close } = openChain(content, join(folder.path, "node.sqlite"), {
    recordedNames: new Set(Object.keys(EVENTS)),
  });
  onTestFinished(async () => {
    await close();
    folder.remove();
  });
  await chain.accept(blocksOf(content));
  const live = new EventLog(database, { recordedNames: () => new Set() })
    .read(0, 1_000_000)
    .map(({ sequence: _sequence, createdMs: _createdMs, ...event }) => event);
  return { chain, database, live, network: createNetwork(content.network) };
}

test("The owner of a unik is found by the index of its transfers, however many transfers follow.", () => {
  const database = openDatabase(":memory:");
  onTestFinished(() => database.close());
  migrate(database);
  const statements: string[] = [];
  createOwnerStore({
    ...database,
    prepare(sql, options) {
      statements.push(sql);
      return database.prepare(sql, options);
    },
  });
  const steps = statements.flatMap((sql) =>
    database.prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql.replaceAll("?", "1")}`).all(),
  );
  const ofTransactions = steps.map(({ detail }) => detail).filter((detail) => /transactions\b/.test(detail));
  expect(ofTransactions).toContain(
    "SEARCH transactions USING INDEX transactions_token (<expr>=? AND (height,sequence)>(?,?))",
  );
  expect(ofTransactions.filter((detail) => detail.includes("transactions_type"))).toEqual([]);
});

describe("the past events of a chain", () => {
  test.each(CHAINS)("%s equal those that were recorded when they happened", async (name) => {
    const { database, live, network } = await grow(name);
    const remembered = live.filter(({ name }) => isRemembered(name));
    const history = new SqlitePastEvents(database, network);
    const derived = Array.from({ length: history.head() - 1 }, (_, index) =>
      history.eventsAt(index + 2),
    ).flat();
    expect(derived.map(({ id }) => id)).toEqual(remembered.map(({ id }) => id));
    for (const [index, event] of derived.entries()) {
      if (!REDUCED.includes(event.name)) expect(event).toEqual(remembered[index]);
      else expect(remembered[index]).toMatchObject(event);
    }
    const names = new Set(derived.map(({ name }) => name));
    for (const name of ["block.applied", "transaction.applied", "round.created", "unik.disclosed"]) {
      expect([name, names.has(name)]).toEqual([name, true]);
    }
    expect(history.eventsAt(history.head() + 1)).toEqual([]);
  });

  test("The past events of a block are derived once while it is read repeatedly, and no longer after it is reverted.", async () => {
    const { chain, database, network } = await grow("chain-random-2");
    const history = new SqlitePastEvents(database, network);
    const { height } = chain.head();
    const events = history.eventsAt(height);
    expect(events).not.toEqual([]);
    expect(history.eventsAt(height)).toBe(events);
    await chain.revertTo(height - 1);
    expect(history.eventsAt(height)).toEqual([]);
  });

  test("The past events of a chain contain the owner of a unik before and after a transfer, and none before its mint.", async () => {
    const { database, live } = await grow("chain-random-2");
    const { ownerAfter } = createOwnerStore(database);
    type UnikEvent = {
      tokenId: string;
      ownerId: string;
      transaction: { sequence: number; senderPublicKey: string };
    };
    const recorded = live.map(({ name, height, data }) => ({
      name,
      height: height ?? 0,
      ...(data as UnikEvent),
    }));
    const sent = recorded.filter(({ name }) => name === "unik.transferred");
    expect(sent.length).toBeGreaterThan(3);
    for (const { tokenId, height, transaction } of sent) {
      const before = { height, sequence: transaction.sequence - 1 };
      expect(ownerAfter(tokenId, before)).toEqual({ publicKey: transaction.senderPublicKey });
      const last = present(
        sent.findLast((event) => event.tokenId === tokenId),
        "an item of sent",
      );
      expect(ownerAfter(tokenId, { height: 1_000, sequence: 0 })).toEqual({ address: last.ownerId });
    }
    const minted = present(
      recorded.find(({ name }) => name === "unik.minted"),
      "an item of recorded",
    );
    const { sequence } = minted.transaction;
    expect(ownerAfter(minted.tokenId, { height: minted.height, sequence })).toBeDefined();
    expect(ownerAfter(minted.tokenId, { height: minted.height, sequence: sequence - 1 })).toBeUndefined();
    expect(ownerAfter("00".repeat(32), { height: 1_000, sequence: 0 })).toBeUndefined();
  });
});

test("All facts of blocks can be derived, except wallets.", () => {
  expect(Object.keys(EVENTS).filter(isRemembered)).toEqual([
    "block.applied",
    "block.finalized",
    "delegate.registered",
    "delegate.resigned",
    "forger.missing",
    "round.created",
    "transaction.applied",
    "round.applied",
    "round.missed",
    "wallet.vote",
    "wallet.unvote",
    "unik.minted",
    "unik.transferred",
    "unik.updated",
    "unik.disclosed",
  ]);
});
