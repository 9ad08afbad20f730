/** Initial state of a dev chain. */
import { blockToJson, createNetwork, encodeBlock, genesisBlockFromJson } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import { Chain, DEFAULT_CHAIN_OPTIONS } from "../../src/chain/chain.ts";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { castOf, DEV_ADDRESS_VERSION, devGenesis, KINDS } from "../../src/dev-chain/network.ts";
import { formatAmount } from "../../src/dev-chain/screen.ts";
import { setupBlocks } from "../../src/dev-chain/setup.ts";
import { ConfigError } from "../../src/platform/coded-error.ts";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import { withHoldings } from "../../src/store/state/holdings.ts";
import { BatchVerifier } from "../../src/verification/verifier.ts";

const MNEMONIC = "test test test test test test test test test test test junk";
const cast = castOf(deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION), 4);
const { block, files } = devGenesis(cast, 2);
const network = createNetwork(files);

function newChain() {
  const database = openDatabase(":memory:");
  migrate(database);
  return new Chain(DEFAULT_CHAIN_OPTIONS, {
    database,
    network,
    genesis: genesisBlockFromJson(blockToJson(block), network),
    verifier: new BatchVerifier({ threads: 0 }),
    events: new EventLog(database, { recordedNames: () => new Set() }),
    eventsOfFacts: () => [],
    eventsOfRevert: () => [],
    now: Date.now,
    onListenerError: (error) => {
      throw error;
    },
  });
}

describe("the genesis block", () => {
  test("The genesis block depends on the mnemonic only.", () => {
    expect(devGenesis(cast, 2).block).toEqual(block);
    const words =
      "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
    const others = castOf(deriveAccounts(words, DEV_ADDRESS_VERSION), 4);
    expect(devGenesis(others, 2).block.header.id).not.toBe(block.header.id);
  });

  test("The accounts of the genesis block are derived from the mnemonic only.", () => {
    expect(() => deriveAccounts("twelve words that are none", DEV_ADDRESS_VERSION)).toThrow(ConfigError);
  });
});

describe("the first blocks", () => {
  test("The first blocks mint a unik of every kind, and elect delegates with the right of theirs.", async () => {
    const chain = newChain();
    for (const setup of setupBlocks(network, cast, chain.head(), Date.now())) {
      expect(await chain.accept([encodeBlock(setup, network)])).toEqual([{ kind: "Accepted" }]);
    }
    expect(chain.head().height).toBe(3);
    for (const [index, kind] of KINDS.entries()) {
      const account = present(chain.state.get("wallets", present(cast.accounts[index]).address));
      const { tokens = {} } = withHoldings(chain.state, account).attributes;
      expect(Object.values(tokens), kind).toEqual([{ type: index + 1 }]);
    }
    for (const { account, kind } of cast.delegates) {
      const { delegate, vote } = present(chain.state.get("wallets", account.address)).attributes;
      expect(delegate).toMatchObject({ username: account.unikId, type: KINDS.indexOf(kind) + 1 });
      expect(vote).toBe(account.publicKey);
      expect(present(delegate).voteBalance).toBeGreaterThan(0n);
    }
    expect(setupBlocks(network, cast, chain.head(), Date.now())).toEqual([]);
  });

  test("The first blocks are finished after a crash between them.", async () => {
    const chain = newChain();
    const [first] = setupBlocks(network, cast, chain.head(), Date.now() - 10_000);
    await chain.accept([encodeBlock(present(first), network)]);
    const rest = setupBlocks(network, cast, chain.head(), Date.now());
    expect(rest).toHaveLength(1);
    expect(await chain.accept([encodeBlock(present(rest[0]), network)])).toEqual([{ kind: "Accepted" }]);
  });
});

test.each([
  [0n, "0"],
  [1n, "0.00000001"],
  [-150_000_000n, "-1.5"],
  [1_000_000_000_000n, "10,000"],
  [123_456_789_012_345_678n, "1,234,567,890.12345678"],
])("The amount %s is shown as %s.", (amount, text) => {
  expect(formatAmount(amount)).toBe(text);
});
