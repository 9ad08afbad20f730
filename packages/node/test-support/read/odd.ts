/** One block more: transactions of the other types, and texts that databases treat differently. */
import type { TransactionBody } from "@uniknode/protocol";
import { present } from "../../src/platform/present.ts";
import type { Write } from "../../src/store/state/state.ts";
import { alice, bob, carol, chain, cold, dave, forgeOn, unik, version2 } from "../http/chain.ts";
import type { Additions } from "../http/fixture.ts";
import { longer } from "../http/longer.ts";
import { walletWrites } from "../store/holdings.ts";

/** Texts that are compared, cut, escaped or refused in different ways. */
export const ODD_TEXTS = [
  "a\0b",
  "\0",
  "\u0001",
  "\u00010",
  "\\u0000",
  "\\",
  '"',
  "100%_",
  "\u{1f600}",
  "\u{ffff}",
  "\ufffd",
  "e\u0301",
  "\u00e9",
  "A",
  "a",
  "?",
  "$1",
];

const hash = "0".repeat(64);
const transfer = { type: 0, recipientId: cold.address, expiration: 0 };
const magistrate = (type: number, asset: TransactionBody["asset"]) =>
  version2(dave, { typeGroup: 2, type, ...(asset && { asset }), fee: 5_000_000_000n });

const bridgechain = {
  name: "chain",
  seedNodes: ["203.0.113.9"],
  genesisHash: hash,
  bridgechainRepository: "https://example.org",
  ports: { "@arkecosystem/core-api": 4003 },
};

const odd = [
  ...ODD_TEXTS.map((vendorField) => version2(alice, { ...transfer, amount: 1n, vendorField })),
  // Trap A25: an asset contains no U+0000.
  ...ODD_TEXTS.filter((text) => !text.includes("\0")).map((text, index) =>
    version2(bob, {
      typeGroup: 2000,
      type: 0,
      asset: {
        nft: { unik: { tokenId: `${index}`.padStart(64, "c"), properties: { type: "1", "usr/odd": text } } },
      },
    }),
  ),
  version2(dave, { type: 2, asset: { delegate: { username: "dave" } } }),
  version2(dave, { type: 5, asset: { ipfs: "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG" } }),
  version2(dave, { type: 7 }),
  magistrate(0, { businessRegistration: { name: "dave", website: "https://example.org" } }),
  magistrate(1, undefined),
  magistrate(2, { businessUpdate: { website: "https://example.com" } }),
  magistrate(3, { bridgechainRegistration: bridgechain }),
  magistrate(4, { bridgechainResignation: { bridgechainId: hash } }),
  magistrate(5, { bridgechainUpdate: { bridgechainId: hash, ports: { "@arkecosystem/core-api": 1 } } }),
];

const block = forgeOn(
  present(longer.blocks.at(-1)),
  { network: chain.network, timestamp: 48, transactions: odd },
  carol,
);

const lockOf = (vendorField: string) => ({
  amount: 5n,
  recipientId: cold.address,
  timestamp: 48,
  vendorField,
  secretHash: hash,
  expiration: { type: 1, value: 1_000 },
});

const writes: Write[] = [
  ...walletWrites({
    address: dave.address,
    publicKey: dave.publicKey,
    balance: 3n,
    nonce: 9n,
    attributes: {
      htlc: {
        locks: Object.fromEntries(
          ODD_TEXTS.map((text, index) => [`${index}`.padStart(64, "f"), lockOf(text)]),
        ),
        lockedBalance: 5n * BigInt(ODD_TEXTS.length),
      },
      delegate: {
        username: unik.dave,
        type: 1,
        voteBalance: 100n,
        forgedFees: 0n,
        forgedRewards: 0n,
        producedBlocks: 0,
        round: 1,
        resigned: true,
      },
    },
  }),
  ...ODD_TEXTS.map(
    (_, index): Write => ({ table: "locks", key: `${index}`.padStart(64, "f"), after: dave.address }),
  ),
  ...ODD_TEXTS.flatMap((text, index): Write[] => {
    const id = `${index}`.padStart(64, "c");
    const [mint, last] = [hash, `${index}`.padStart(64, "0")];
    return [
      {
        table: "tokens",
        key: id,
        after: { id, ownerId: bob.address, firstTransaction: mint, lastTransaction: last },
      },
      { table: "properties", key: `${id}/type`, after: text },
      { table: "properties", key: `${id}/${text}`, after: text },
      { table: "properties", key: `${id}/explicitValues`, after: `${text},other` },
    ];
  }),
];

export const oddChain: Additions = {
  blocks: [...longer.blocks, block],
  writes: [...longer.writes, ...writes],
};
