/** Chains of headers with every delegate's key: what a network, and an attacker of it, can sign. */
import {
  bytesToHex,
  concatBytes,
  createNetwork,
  encodeUnsignedHeader,
  forgingOrder,
  hexToBytes,
  keysFromPrivateKey,
  livenet,
  present,
  sha256,
  signEcdsa,
  utf8ToBytes,
} from "@uniknode/protocol";
import type { Proof } from "../../src/api/resources/proofs.ts";
import { type Calendar, type Checkpoint, calendarOf } from "../../src/proofs/checkpoint.ts";

export type Key = { readonly privateKey: Uint8Array; readonly publicKey: string };

/** A block as its header, and the transactions that the header commits to. */
export type TestBlock = {
  readonly id: string;
  readonly height: number;
  readonly slot: number;
  readonly round: number;
  readonly generator: Key;
  readonly transactions: readonly Uint8Array[];
  /** Signed bytes of the header. */
  readonly header: string;
};

export type World = {
  /** Number of delegates. */
  readonly size: number;
  readonly network: Checkpoint["network"];
  readonly calendar: Calendar;
  /** Creates a block in a slot, with any generator. */
  block(parent: Parent, slot: number, generator: Key, transactions?: readonly Uint8Array[]): TestBlock;
  /** Creates the blocks of a complete round; delegates can miss their slots. */
  round(parent: Parent, ranked: readonly Key[], misses?: (slot: number, key: Key) => boolean): TestBlock[];
  unixMs(slot: number): number;
};

export type Parent = Pick<TestBlock, "id" | "height" | "slot">;

const ADDRESS_VERSION = livenet.network.pubKeyHash;
const BLOCK_TIME = 8;
const EPOCH = "2017-03-21T13:00:00.000Z";

const cachedKeys = new Map<string, Key>();

/** Returns the key of a name. */
export function keyOf(name: string): Key {
  const cached = cachedKeys.get(name);
  if (cached) return cached;
  const { privateKey, publicKey } = keysFromPrivateKey(sha256(utf8ToBytes(name)));
  const key = { privateKey, publicKey: bytesToHex(publicKey) };
  cachedKeys.set(name, key);
  return key;
}

export const keysOf = (name: string, count: number): Key[] =>
  Array.from({ length: count }, (_, index) => keyOf(`${name} ${index}`));

/** Bytes that begin as a transaction of a network. */
export const transactionOf = (text: string, addressVersion = ADDRESS_VERSION): Uint8Array =>
  concatBytes(Uint8Array.of(0xff, 2, addressVersion), utf8ToBytes(text));

export const idOf = (bytes: Uint8Array): string => bytesToHex(sha256(bytes));

export function createWorld(size: number): World {
  const protocol = createNetwork({
    ...livenet,
    milestones: [{ ...present(livenet.milestones[0]), activeDelegates: size, block: { idFullSha256: true } }],
  });
  const network = {
    nethash: livenet.network.nethash,
    addressVersion: ADDRESS_VERSION,
    epoch: EPOCH,
    blockTime: BLOCK_TIME,
    delegates: [{ height: 1, count: size }],
  };
  const calendar = calendarOf(network);

  function block(
    parent: Parent,
    slot: number,
    generator: Key,
    transactions: readonly Uint8Array[] = [transactionOf(`${parent.id} ${slot}`)],
  ): TestBlock {
    const height = parent.height + 1;
    const ids = transactions.map(sha256);
    const unsigned = encodeUnsignedHeader(
      {
        version: 0,
        timestamp: slot * BLOCK_TIME,
        height,
        previousBlock: parent.id,
        numberOfTransactions: ids.length,
        totalAmount: 0n,
        totalFee: 0n,
        reward: 200_000_000n,
        payloadLength: 32 * ids.length,
        payloadHash: bytesToHex(sha256(concatBytes(...ids))),
        generatorPublicKey: generator.publicKey,
      },
      protocol,
    );
    const bytes = concatBytes(unsigned, signEcdsa(sha256(unsigned), generator.privateKey));
    const { round } = calendar.roundAt(height);
    return { id: idOf(bytes), height, slot, round, generator, transactions, header: bytesToHex(bytes) };
  }

  function round(
    parent: Parent,
    ranked: readonly Key[],
    misses: (slot: number, key: Key) => boolean = () => false,
  ): TestBlock[] {
    const blocks: TestBlock[] = [];
    const { round } = calendar.roundAt(parent.height + 1);
    const order = forgingOrder(
      round,
      ranked.map(({ publicKey }) => publicKey),
    );
    const keys = new Map(ranked.map((key) => [key.publicKey, key]));
    for (let slot = parent.slot + 1; blocks.length < size; slot++) {
      const key = present(keys.get(present(order[slot % size])));
      if (!misses(slot, key)) blocks.push(block(blocks.at(-1) ?? parent, slot, key));
    }
    return blocks;
  }

  return {
    ...{ size, network, calendar, block, round },
    unixMs: (slot) => calendar.unixMsOf(slot * BLOCK_TIME),
  };
}

/** Parent of the first block of a round. */
export const startOf = ({ size }: World, round = 11): Parent => ({
  id: "11".repeat(32),
  height: size * (round - 1),
  slot: 1_000 * size,
});

/** Returns the checkpoint of a complete round. */
export function checkpointOf({ network, calendar }: World, round: readonly TestBlock[]): Checkpoint {
  const { height, id, slot } = present(round.at(-1));
  if (calendar.roundAt(height + 1).roundHeight !== height + 1) throw new Error("the round is not complete");
  const keys = [...new Set(round.map(({ generator }) => generator.publicKey))].sort();
  return { network, height, id, timestamp: slot * BLOCK_TIME, keys };
}

export type Parts = {
  readonly blocks: readonly TestBlock[];
  readonly advances?: readonly (readonly TestBlock[])[];
  /** Index of the transaction in the first block; absent: the proof is of the block. */
  readonly transaction?: number;
};

/** Builds a proof; the delegates are ranked so that the shuffle gives the generators, as far as a ranking does. */
export function proofOf({ size, network }: World, { blocks, advances = [], transaction }: Parts): Proof {
  const [first] = blocks;
  const { transactions } = present(first);
  const byRound = Map.groupBy([...advances.flat(), ...blocks], ({ round }) => round);
  return {
    nethash: network.nethash,
    ...(transaction !== undefined && { transaction: bytesToHex(present(transactions[transaction])) }),
    ids: transactions.map(idOf),
    headers: blocks.map(({ header }) => header),
    advances: advances.map((headers) => headers.map(({ header }) => header)),
    rounds: [...byRound]
      .toSorted(([one], [other]) => one - other)
      .map(([round, blocks]) => ({ round, delegates: rankingOf(round, blocks, size) })),
  };
}

/** Inverts the shuffle: every assignment of slots to delegates has a ranking. */
export function rankingOf(
  round: number,
  blocks: readonly Pick<TestBlock, "slot" | "generator">[],
  size: number,
): (string | null)[] {
  const positions = forgingOrder(
    round,
    Array.from({ length: size }, (_, rank) => `${rank}`),
  );
  const ranked = Array.from({ length: size }, (): string | null => null);
  const generators = new Map(blocks.map(({ slot, generator }) => [generator.publicKey, slot]));
  for (const [key, slot] of generators) {
    const rank = Number(positions[slot % size]);
    // A generator whose place is taken is named at another one.
    ranked[ranked[rank] === null ? rank : ranked.indexOf(null)] = key;
  }
  return ranked;
}

/** Returns the header with another signature. */
export const withSignature = (header: string, signature: Uint8Array): string =>
  header.slice(0, 2 * 141) + bytesToHex(signature);

export const signatureOf = (header: string): Uint8Array => hexToBytes(header.slice(2 * 141));
