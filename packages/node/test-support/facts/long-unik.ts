/** Chains with one unik of many properties, written without execution: only the rows from which the tree of facts is derived. */
import { createHash } from "node:crypto";
import {
  type BlockHeader,
  blockToJson,
  builders,
  createSlots,
  encodeHeader,
  encodeTransaction,
  forgeBlock,
  genesisBlockFromJson,
  type SealedTransaction,
  type TransactionBody,
} from "@uniknode/protocol";
import { present } from "../../src/platform/present.ts";
import { BlockStore } from "../../src/store/chain/blocks.ts";
import { TransactionStore } from "../../src/store/chain/transactions.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { cast, dev, network } from "../chain/forking.ts";
import { openMigrated } from "../store/migrated.ts";

export type WrittenChain = ReturnType<typeof writtenChain>;
export type Properties = Readonly<Record<string, string | null>>;

/** Most properties of one transaction. */
const MAX_PROPERTIES = 255;
/** Transactions of a block, as on the live network. */
export const FULL_BLOCK = 280;

const owner = present(cast.accounts[0]);
export const LONG_UNIK = owner.unikId;

/** Opens a chain in a new database file, which begins with the first block of the dev chain. */
export function writtenChain(path: string) {
  const open = (file: string) => openDatabase(file, { makesCheckpoints: false });
  const database = openMigrated(path, open);
  const [blocks, transactions] = [new BlockStore(database), new TransactionStore(database)];
  const slots = createSlots(network);
  const keys = present(cast.founders[0]).keys;
  const genesis = genesisBlockFromJson(blockToJson(dev.block), network);
  let head: BlockHeader = genesis.header;
  let nonce = 0n;
  database.transaction(() => {
    blocks.append({ header: genesis.header, headerBytes: encodeHeader(genesis.header, network) });
    transactions.append(genesis);
  });

  function append(contents: readonly SealedTransaction[] = []): void {
    const timestamp = slots.slotTime(slots.slotAt(head.timestamp) + 1);
    const block = forgeBlock({ network, timestamp, previous: head, transactions: contents }, keys);
    database.transaction(() => {
      blocks.append(block);
      transactions.append(block);
    }, "process death");
    head = block.header;
  }

  const envelope = () => ({ network, senderPublicKey: owner.publicKey, nonce: ++nonce, fee: 1n });

  const update = (properties: Properties, tokenId = LONG_UNIK) =>
    sealed(builders.nftUpdate({ ...envelope(), tokenId, properties }));

  return {
    database,
    network,
    /** Opens another database file. */
    open,
    head: () => head,
    append,
    mint: (tokenId = LONG_UNIK) =>
      sealed(builders.nftMint({ ...envelope(), tokenId, properties: { type: "1" } })),
    update,
    /** Removes the blocks at and above a height. */
    removeFrom(height: number): void {
      database.transaction(() => {
        blocks.removeFrom(height);
        transactions.removeFrom(height);
      });
      head = present(blocks.head());
    },
    /** Appends blocks that give the unik properties `first` to `last`, with 255 in each transaction. */
    addProperties(first: number, last: number): void {
      for (const part of partsOf(first, last)) append(part.map((properties) => update(properties)));
    },
    /** Appends empty blocks, so that all blocks before them are final. */
    finalize(rounds = 3): void {
      for (let count = rounds * network.milestoneAt(1).activeDelegates; count > 0; count--) append();
    },
  };
}

/** Returns the properties of each transaction, by block. */
function partsOf(first: number, last: number): Properties[][] {
  const perBlock = FULL_BLOCK * MAX_PROPERTIES;
  return Array.from({ length: Math.ceil((last - first + 1) / perBlock) }, (_, block) => {
    const begin = first + block * perBlock;
    const end = Math.min(begin + perBlock - 1, last);
    return Array.from({ length: Math.ceil((end - begin + 1) / MAX_PROPERTIES) }, (_, index) => {
      const from = begin + index * MAX_PROPERTIES;
      return propertiesOf(from, Math.min(from + MAX_PROPERTIES - 1, end));
    });
  });
}

export const propertiesOf = (first: number, last: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: last - first + 1 }, (_, index) => [
      `key-${first + index}`,
      `value ${first + index}`,
    ]),
  );

/** A transaction without a valid signature: stored transactions count as verified. */
function sealed(body: TransactionBody): SealedTransaction {
  const signature = "0".repeat(128);
  const id = createHash("sha256").update(`${body.senderPublicKey} ${body.nonce}`).digest("hex");
  const data = { ...body, signature, id };
  return { data, bytes: encodeTransaction(data), isVerified: true };
}
