/**
 * Generated chain for measurements, cached in the temporary folder of the system: rules of livenet from height 1,
 * 23 delegates, first empty blocks, then blocks full of transfers.
 */
import { createReadStream, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
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
  type KeyPair,
  keysFromPassphrase,
  livenet,
  type Network,
  type NetworkFiles,
  type SealedTransaction,
  signTransaction,
  type TransactionBody,
} from "@uniknode/protocol";
import { present } from "../packages/node/src/platform/present.ts";

export type FixtureOptions = {
  /** Blocks without transactions; the first phase. */
  readonly emptyBlocks: number;
  /** Blocks with transfers; the second phase. */
  readonly fullBlocks: number;
  readonly transfersPerBlock: number;
};

export type Fixture = {
  readonly files: NetworkFiles;
  readonly network: Network;
  readonly genesis: Block;
  /** Serialized blocks from height 2 on, read lazily from the file. */
  blocks(): AsyncIterable<Uint8Array>;
};

/** Must change with every change of the generated data. */
const FORMAT = 1;
const SENDERS = 1_000;
/** Number of senders, and of wallets that only receive. */
const RECIPIENTS = 5_000;
const ONE = 100_000_000n;

export async function loadFixture(options: FixtureOptions): Promise<Fixture> {
  const { emptyBlocks, fullBlocks, transfersPerBlock } = options;
  const key = [FORMAT, emptyBlocks, fullBlocks, transfersPerBlock].join("-");
  const folder = join(tmpdir(), `uniknode-bench-${key}`);
  const genesisFile = join(folder, "genesis.json");
  const blocksFile = join(folder, "blocks.bin");
  if (!existsSync(genesisFile)) {
    mkdirSync(folder, { recursive: true });
    const { block, files } = createGenesis();
    await writeBlocks(`${blocksFile}.part`, generate(options, block, createNetwork(files)));
    renameSync(`${blocksFile}.part`, blocksFile);
    const bytes = bytesToHex(encodeBlock(block, createNetwork(files)));
    writeFileSync(genesisFile, JSON.stringify({ id: block.header.id, bytes, files }));
  }
  const { id, bytes, files } = JSON.parse(readFileSync(genesisFile, "utf8"));
  const network = createNetwork(files as NetworkFiles);
  const genesis = blockFromTrustedBytes(Buffer.from(bytes, "hex"), network, id);
  return { files, network, genesis, blocks: () => readBlocks(blocksFile) };
}

const ADDRESS_VERSION = livenet.network.pubKeyHash;
const account = (name: string) => {
  const keys = keysFromPassphrase(`bench ${name}`);
  const publicKey = bytesToHex(keys.publicKey);
  return { keys, publicKey, address: addressFromPublicKey(publicKey, ADDRESS_VERSION) };
};
type Account = ReturnType<typeof account>;

const accounts = (count: number, kind: string): Account[] =>
  Array.from({ length: count }, (_, index) => account(`${kind} ${index}`));

const delegateCount = present(livenet.milestones[0]).activeDelegates as number;

function createGenesis() {
  const treasury = account("treasury");
  const premine = 1_000_000n * ONE * BigInt(SENDERS);
  const body = { version: 1, network: ADDRESS_VERSION, typeGroup: 1, timestamp: 0, fee: 0n };
  const transfer = (from: Account, to: Account, amount: bigint) =>
    seal(
      { ...body, type: 0, senderPublicKey: from.publicKey, amount, recipientId: to.address, expiration: 0 },
      from,
    );
  const issuer = account("issuer");
  return createGenesisBlock({
    files: livenet,
    keys: treasury.keys,
    transactions: [
      transfer(issuer, treasury, premine),
      ...accounts(delegateCount, "delegate").map((delegate, index) =>
        seal(
          {
            ...body,
            type: 2,
            amount: 0n,
            senderPublicKey: delegate.publicKey,
            asset: { delegate: { username: `delegate_${index}` } },
          },
          delegate,
        ),
      ),
      ...accounts(SENDERS, "wallet").map((wallet) => transfer(treasury, wallet, 100_000n * ONE)),
    ],
  });
}

const seal = (body: TransactionBody, { keys }: Account): SealedTransaction => {
  const data = signTransaction(body, keys);
  return { data, bytes: encodeTransaction(data), isVerified: true };
};

/** Generates the blocks and executes each, to determine the next forger. */
function* generate(options: FixtureOptions, genesis: Block, network: Network): Iterable<Uint8Array> {
  const { emptyBlocks, fullBlocks, transfersPerBlock } = options;
  const [rounds, slots, state] = [createRounds(network), createSlots(network), createMemoryState()];
  const delegates = new Map<string, KeyPair>(
    accounts(delegateCount, "delegate").map(({ publicKey, keys }) => [publicKey, keys]),
  );
  const nextTransfers = createTransfers();

  const draft = createDraft(state);
  applyGenesis(draft, network, genesis);
  state.commit(draft.changes());
  let head = genesis.header;
  for (let index = 0; index < emptyBlocks + fullBlocks; index++) {
    const timestamp = slots.slotTime(slots.slotAt(head.timestamp) + 1);
    const { round } = rounds.roundAt(head.height + 1);
    const { order } = present(state.get("rounds", String(round)));
    const keys = present(delegates.get(present(order[slots.slotAt(timestamp) % order.length])));
    const transactions = index < emptyBlocks ? [] : nextTransfers(transfersPerBlock);
    const block = forgeBlock({ network, timestamp, previous: head, transactions }, keys);
    yield encodeBlock(block, network);
    const applied = createDraft(state);
    state.commit(applyBlock({ network, rounds, slots, head }, applied, block).changes);
    head = block.header;
  }
}

/** Transfers between wallets drawn from a fixed sequence. */
function createTransfers(): (count: number) => SealedTransaction[] {
  const wallets = accounts(SENDERS, "wallet");
  const recipients = [...wallets, ...accounts(RECIPIENTS - SENDERS, "recipient")];
  const nonces = new Map<Account, bigint>();
  let seed = 1;
  const draw = <T>(from: readonly T[]): T => {
    seed = (seed * 48271) % 2147483647;
    return present(from[seed % from.length]);
  };
  return (count) =>
    Array.from({ length: count }, () => {
      const [sender, recipient] = [draw(wallets), draw(recipients)];
      const nonce = (nonces.get(sender) ?? 0n) + 1n;
      nonces.set(sender, nonce);
      const body: TransactionBody = {
        version: 2,
        network: ADDRESS_VERSION,
        typeGroup: 1,
        type: 0,
        nonce,
        senderPublicKey: sender.publicKey,
        fee: ONE / 10n,
        amount: ONE,
        recipientId: recipient.address,
        expiration: 0,
      };
      return seal(body, sender);
    });
}

/** Writes each block after its length, a u32. */
export async function writeBlocks(path: string, blocks: Iterable<Uint8Array>): Promise<void> {
  const file = await open(path, "w");
  let parts: Uint8Array[] = [];
  for (const block of blocks) {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(block.length);
    parts.push(length, block);
    if (parts.length < 2_000) continue;
    await file.write(Buffer.concat(parts));
    parts = [];
  }
  await file.write(Buffer.concat(parts));
  await file.close();
}

export async function* readBlocks(path: string): AsyncIterable<Uint8Array> {
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
    rest = yield* completeBlocks(Buffer.concat([rest, chunk]));
  }
}

/** The complete blocks at the start of a part of a file; returns the bytes after them. */
export function* completeBlocks(bytes: Buffer): Generator<Uint8Array, Buffer<ArrayBuffer>> {
  let at = 0;
  while (at + 4 <= bytes.length) {
    const end = at + 4 + bytes.readUInt32LE(at);
    if (end > bytes.length) break;
    yield bytes.subarray(at + 4, end);
    at = end;
  }
  return Buffer.from(bytes.subarray(at));
}
