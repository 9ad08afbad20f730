/**
 * A chain with the proportions of the live network, cached in the temporary folder of the system: 23 delegates, a block every 8 s, most
 * blocks empty. All signatures are valid; they take most of the time to generate 24,000,000 blocks, 80 minutes.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyBlock, applyGenesis, createDraft, createMemoryState } from "@uniknode/ledger";
import {
  addressFromPublicKey,
  type Block,
  blockFromTrustedBytes,
  bytesToHex,
  createGenesisBlock,
  createNetwork,
  createRounds,
  createSlots,
  encodeBlock,
  encodeTransaction,
  forgeBlock,
  keysFromPassphrase,
  type Network,
  type NetworkFiles,
  type SealedTransaction,
  signTransaction,
  type TransactionBody,
} from "@uniknode/protocol";
import { deriveAccounts } from "../../packages/node/src/dev-chain/keys.ts";
import {
  castOf,
  DEV_ADDRESS_VERSION,
  devDescription,
  devMilestones,
} from "../../packages/node/src/dev-chain/network.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import { createBodies, type Size } from "../api/dataset.ts";
import { completeBlocks, type Fixture, writeBlocks } from "../fixture.ts";

export type LivenetSize = Size & { readonly blocks: number };

export type Livenet = Omit<Fixture, "blocks"> & {
  /** Serialized blocks from an index on: the first one has height 2. */
  blocks(from?: number): Iterable<Uint8Array>;
  /** The last block. */
  readonly last: { readonly height: number; readonly id: string };
};

/** Must change with every change of the generated data. */
const FORMAT = 3;
const DELEGATES = 23;
const BLOCK_TIME_SECONDS = 8;
/** All slots of 24 million blocks are in the past. */
const EPOCH = "2018-01-01T00:00:00.000Z";
const SENDERS = 1_000;
const ONE = 100_000_000n;
const REPORT_BLOCKS = 100_000;

export async function loadLivenet(size: LivenetSize): Promise<Livenet> {
  const key = [FORMAT, size.blocks, size.transactions, size.wallets, size.uniks].join("-");
  const folder = join(tmpdir(), `uniknode-bench-livenet-${key}`);
  const [description, blocks] = [join(folder, "network.json"), join(folder, "blocks.bin")];
  if (!existsSync(description)) {
    mkdirSync(folder, { recursive: true });
    const senders = Array.from({ length: SENDERS }, (_, index) => account(`sender ${index}`));
    const { block, files } = createGenesis(senders);
    const network = createNetwork(files);
    const last = { height: 1, id: "" };
    await writeBlocks(`${blocks}.part`, generate(size, { genesis: block, network, senders, last }));
    renameSync(`${blocks}.part`, blocks);
    const bytes = bytesToHex(encodeBlock(block, network));
    writeFileSync(`${description}.part`, JSON.stringify({ id: block.header.id, bytes, files, last }));
    renameSync(`${description}.part`, description);
  }
  const { id, bytes, files, last } = JSON.parse(readFileSync(description, "utf8"));
  const network = createNetwork(files as NetworkFiles);
  const genesis = blockFromTrustedBytes(Buffer.from(bytes, "hex"), network, id);
  return { files, network, genesis, last, blocks: (from) => readBlocks(blocks, from) };
}

const READ_BYTES = 256 * 1024;

/** Reads a file of `writeBlocks`. Waiting for each block of a stream would cost a twelfth of the replay. */
function* readBlocks(path: string, from = 0): Iterable<Uint8Array> {
  const file = openSync(path, "r");
  try {
    let [rest, index] = [Buffer.alloc(0), 0];
    for (;;) {
      const chunk = Buffer.alloc(READ_BYTES);
      const length = readSync(file, chunk);
      if (length === 0) return;
      const blocks = completeBlocks(Buffer.concat([rest, chunk.subarray(0, length)]));
      let next = blocks.next();
      for (; !next.done; next = blocks.next()) if (index++ >= from) yield next.value;
      rest = next.value;
    }
  } finally {
    closeSync(file);
  }
}

const account = (name: string) => {
  const keys = keysFromPassphrase(`livenet ${name}`);
  const publicKey = bytesToHex(keys.publicKey);
  return { keys, publicKey, address: addressFromPublicKey(publicKey, DEV_ADDRESS_VERSION) };
};
type Account = ReturnType<typeof account>;

const delegates = Array.from({ length: DELEGATES }, (_, index) => account(`delegate ${index}`));

/** Signs a transaction with the keys of its sender. */
const sealBy = (body: TransactionBody, { keys }: Account): SealedTransaction => {
  const data = signTransaction(body, keys);
  return { data, bytes: encodeTransaction(data), isVerified: true };
};

function createGenesis(senders: readonly Account[]) {
  const cast = castOf(
    deriveAccounts("test test test test test test test test test test test junk", DEV_ADDRESS_VERSION),
    1,
  );
  const rules = devMilestones(BLOCK_TIME_SECONDS).map(
    ({ nbDelegatesByType: _, disableArkLegacyVote: __, ...others }) => others,
  );
  const files: NetworkFiles = {
    network: devDescription(cast),
    milestones: rules.map((rule) =>
      rule.height === 1 ? { ...rule, activeDelegates: DELEGATES, epoch: EPOCH } : rule,
    ),
    exceptions: {},
  };
  const envelope = { version: 1 as const, network: DEV_ADDRESS_VERSION, typeGroup: 1, timestamp: 0, fee: 0n };
  const treasury = account("treasury");
  const transactions = [
    ...senders.map(({ address: recipientId }) => {
      const senderPublicKey = treasury.publicKey;
      const amount = 1_000_000n * ONE;
      return sealBy({ ...envelope, type: 0, senderPublicKey, amount, recipientId, expiration: 0 }, treasury);
    }),
    ...delegates.map((delegate, index) => {
      const asset = { delegate: { username: `delegate_${index}` } };
      return sealBy(
        { ...envelope, type: 2, senderPublicKey: delegate.publicKey, amount: 0n, asset },
        delegate,
      );
    }),
  ];
  return createGenesisBlock({ files, transactions, keys: treasury.keys });
}

type Generation = {
  readonly genesis: Block;
  readonly network: Network;
  readonly senders: readonly Account[];
  /** Is set to each block. */
  readonly last: { height: number; id: string };
};

/** Generates the blocks, and executes each: the votes determine the delegates of the rounds. */
function* generate(size: LivenetSize, { genesis, network, senders, last }: Generation): Iterable<Uint8Array> {
  const [rounds, slots, state] = [createRounds(network), createSlots(network), createMemoryState()];
  const accountOf = new Map([...senders, ...delegates].map((one) => [one.publicKey, one]));
  const publicKeys = delegates.map(({ publicKey }) => publicKey);
  const own = senders.map(({ publicKey, address }) => ({ publicKey, address, nonce: 0n }));
  const bodies = spreadUniks(createBodies({ ...size, network, senders: own, delegates: publicKeys }));
  const share = size.transactions / size.blocks;

  const draft = createDraft(state);
  applyGenesis(draft, network, genesis);
  state.commit(draft.changes());
  let head = genesis.header;
  for (let index = 0; index < size.blocks; index++) {
    // The rules of the block above the genesis block do not permit uniks.
    const count = index === 0 ? 0 : Math.floor((index + 1) * share) - Math.floor(index * share);
    const transactions = Array.from({ length: count }, () => {
      const body = bodies.next().value;
      return sealBy(body, present(accountOf.get(body.senderPublicKey)));
    });
    const timestamp = slots.slotTime(slots.slotAt(head.timestamp) + 1);
    const { order } = present(state.get("rounds", String(rounds.roundAt(head.height + 1).round)));
    const generator = present(accountOf.get(present(order[slots.slotAt(timestamp) % order.length])));
    const block = forgeBlock({ network, timestamp, previous: head, transactions }, generator.keys);
    yield encodeBlock(block, network);
    const applied = createDraft(state);
    state.commit(applyBlock({ network, rounds, slots, head }, applied, block).changes);
    head = block.header;
    if (index % REPORT_BLOCKS === 0) process.stderr.write(`\rgenerating: ${index} of ${size.blocks} blocks `);
  }
  process.stderr.write("\n");
  Object.assign(last, { height: head.height, id: head.id });
}

/**
 * Replaces the next payment of each sender that minted a unik by the transfer of this unik to the recipient: the senders are few, and the
 * owners of uniks are many.
 */
function* spreadUniks(bodies: Generator<TransactionBody, never>): Generator<TransactionBody, never> {
  const minted = new Map<string, string>();
  for (;;) {
    const body = bodies.next().value;
    const { senderPublicKey, asset, recipientId } = body;
    const token = asset?.nft?.unik;
    const own = minted.get(senderPublicKey);
    if (token) minted.set(senderPublicKey, token.tokenId);
    if (own === undefined || body.type !== 0 || body.typeGroup !== 1 || recipientId === undefined) {
      yield body;
      continue;
    }
    minted.delete(senderPublicKey);
    const { version, network, nonce, fee } = body;
    yield {
      ...{ version, network, nonce, fee, senderPublicKey, recipientId },
      ...{ typeGroup: 2000, type: 2, amount: 0n, asset: { nft: { unik: { tokenId: own } } } },
    } as TransactionBody;
  }
}
