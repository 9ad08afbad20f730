/** `forger.missing` has the delegate as it was when its round began, as `round.created` has it. */
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Event } from "../../src/events/catalogue.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import {
  blocksOf,
  CHAINS,
  openChain,
  readChain,
  temporaryFolder,
} from "../../test-support/chain/fixtures.ts";

const RECORDED = { recordedNames: new Set(["forger.missing", "round.created"]) };

/** Accepts the blocks of a chain in parts, each in a new process of the chain, and returns the events. */
async function eventsInParts(name: string, size: number): Promise<Event[]> {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const content = readChain(name);
  const blocks = blocksOf(content);
  const events: Event[] = [];
  for (let first = 0; first < blocks.length; first += size) {
    const { chain, database, close } = openChain(content, join(folder.path, "node.sqlite"), RECORDED);
    const outcomes = await chain.accept(blocks.slice(first, first + size));
    expect(outcomes.filter(({ kind }) => kind !== "Accepted")).toEqual([]);
    if (first + size >= blocks.length) {
      const log = new EventLog(database, { recordedNames: () => new Set() });
      for (const { name, id, data } of log.read(0, 1_000_000)) events.push({ name, id, data });
    }
    await close();
  }
  return events;
}

type Delegate = { readonly address: string; readonly votes?: string; readonly round?: number };

/** Returns each missed delegate, and the same delegate in the last round that was created before. */
function missedWithCreated(events: readonly Event[]): [missed: unknown, created: unknown][] {
  const found: [unknown, unknown][] = [];
  let created: readonly Delegate[] | undefined;
  for (const { name, data } of events) {
    if (name === "round.created") created = data as Delegate[];
    // The first round begins with the genesis block, which has no events.
    else if (created) {
      const { delegate } = data as { delegate: Delegate };
      const {
        votes: _,
        round: __,
        ...same
      } = created.find(({ address }) => address === delegate.address) ?? {};
      found.push([delegate, same]);
    }
  }
  return found;
}

test.each(CHAINS)("The delegates of missed slots of %s are as at the start of the round.", async (name) => {
  const events = await eventsInParts(name, 1_000);
  const found = missedWithCreated(events);
  expect(found.length).toBeGreaterThan(0);
  expect(found.map(([missed]) => missed)).toEqual(found.map(([, created]) => created));
  // As in one batch: in parts that end within rounds, with restarts between them.
  expect(await eventsInParts(name, 7)).toEqual(events);
});
