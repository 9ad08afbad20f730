import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Block, canonicalJson, createNetwork } from "@uniknode/protocol";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { isRemembered } from "../../src/event-log/history.ts";
import { PastFacts } from "../../src/event-log/past-facts.ts";
import { SqlitePastEvents } from "../../src/event-log/sqlite/history.ts";
import { EVENTS, isChainFact } from "../../src/events/catalogue.ts";
import { leafContent, leafText, leavesOf } from "../../src/facts/leaf.ts";
import { RecentBlocks } from "../../src/facts/leaf-source.ts";
import { present } from "../../src/platform/present.ts";
import { BlockStore } from "../../src/store/chain/blocks.ts";
import { createFactLookups } from "../../src/store/chain/fact-lookups.ts";
import {
  blocksOf,
  CHAINS,
  openChain,
  readChain,
  temporaryFolder,
} from "../../test-support/chain/fixtures.ts";

async function grow(name: string) {
  const folder = temporaryFolder();
  const content = readChain(name);
  const { chain, database, close } = openChain(content, join(folder.path, "node.sqlite"));
  onTestFinished(async () => {
    await close();
    folder.remove();
  });
  const network = createNetwork(content.network);
  const applied: Parameters<typeof leavesOf>[0][] = [];
  const live = new Map<number, string[]>();
  const pastFacts = new PastFacts(createFactLookups(database), network);
  chain.subscribe((change) => {
    for (const { block } of change.applied) {
      applied.push(block.header);
      live.set(block.header.height, leavesOf(block.header, pastFacts.of(block), network).map(leafText));
    }
  });
  await chain.accept(blocksOf(content));
  return { database, network, live, blocks: new BlockStore(database) };
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

describe("the leaves of a block", () => {
  test.each(CHAINS)(
    "The leaves of a block of %s are equal for the received block and the stored one, after any other.",
    async (name) => {
      const { database, network, live, blocks } = await grow(name);
      const heights = [...live.keys()];
      expect(heights.length).toBeGreaterThan(40);
      // In reverse, so that the previous block is unknown.
      for (const height of heights.toReversed()) {
        const block = present(blocks.block(height), "the result of block");
        const fresh = new PastFacts(createFactLookups(database), network);
        expect(leavesOf(block.header, fresh.of(block), network).map(leafText)).toEqual(live.get(height));
      }
    },
  );

  test.each(CHAINS)(
    "The leaves of a block of %s equal its events, except for content that the chain alone lacks.",
    async (name) => {
      const { database, network, blocks } = await grow(name);
      const [history, pastFacts] = [
        new SqlitePastEvents(database, network),
        new PastFacts(createFactLookups(database), network),
      ];
      const seen = new Set<string>();
      for (let height = 1; height <= history.head(); height++) {
        const { header, transactions } = present(blocks.block(height), "the result of block");
        const facts = pastFacts.of({ header, transactions });
        // That a block became final is not a leaf.
        const events = history.eventsAt(height).filter(({ name }) => name !== "block.finalized");
        expect(facts.length).toBe(events.length);
        for (const [index, leaf] of leavesOf(header, facts, network).entries()) {
          const content = leafContent(present(facts[index], "an item of facts"), header, network);
          const { id, name, data } = present(events[index], "an item of events");
          expect(content.id).toBe(id);
          // A delegate has only its public key: the other members change.
          if (content.data !== undefined) expect(data).toMatchObject(JSON.parse(canonicalJson(content.data)));
          else expect(data).toBeUndefined();
          const isShort = ["forger.missing", "round.missed", "round.created"].includes(name);
          if (!isShort) expect(content.data).toEqual(data);
          expect(leafText(leaf)).toBe(`${height}|${index}|${name}|${sha256(canonicalJson(content))}`);
          seen.add(name);
        }
      }
      for (const name of seen) expect([name, isRemembered(name)]).toEqual([name, true]);
    },
  );
});

test("Events of this node, of its peers and of its pool are not leaves, and neither are retractions.", () => {
  const leaves = Object.keys(EVENTS).filter(isRemembered);
  expect(leaves.every(isChainFact)).toBe(true);
  for (const name of [
    "block.forged",
    "block.received",
    "peer.added",
    "state.started",
    "transaction.pool.added",
  ]) {
    expect(leaves).not.toContain(name);
  }
  expect(leaves.filter((name) => /reverted|wallet\.(saved|created)/.test(name))).toEqual([]);
});

test("Canonical text has sorted members and no white space, and preserves the value.", () => {
  expect(canonicalJson({ b: 1n, a: [true, null, "\u20ac\n\u0001"], c: undefined, "\u00f6": {} })).toBe(
    '{"a":[true,null,"\u20ac\\n\\u0001"],"b":"1","\u00f6":{}}',
  );
  expect(canonicalJson([1e21, 1e-7, -0, 4.5])).toBe("[1e+21,1e-7,0,4.5]");
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false } as object), (value) => {
      const text = canonicalJson(value);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(canonicalJson(JSON.parse(text))).toBe(text);
      const reordered = (part: unknown): unknown =>
        Array.isArray(part)
          ? part.map(reordered)
          : typeof part === "object" && part !== null
            ? Object.fromEntries(
                Object.entries(part)
                  .reverse()
                  .map(([key, member]) => [key, reordered(member)]),
              )
            : part;
      expect(canonicalJson(reordered(value))).toBe(text);
    }),
  );
});

test.each([
  { blocks: 16_400, transactions: 0, kept: 16_384 },
  { blocks: 20, transactions: 1_024, kept: 6 },
])("Of $blocks blocks with $transactions transactions, the last $kept are cached.", (row) => {
  const recent = new RecentBlocks();
  const blockAt = (height: number) =>
    ({
      header: { height },
      transactions: Array(row.transactions).fill({ bytes: new Uint8Array(512) }),
    }) as unknown as Block;
  for (let height = 1; height <= row.blocks; height++) recent.add([{ block: blockAt(height), changes: [] }]);
  const first = row.blocks - row.kept + 1;
  expect(recent.take(first - 1)).toBeUndefined();
  expect(recent.take(first)?.block.header.height).toBe(first);
  expect(recent.take(first)).toBeUndefined();
});
