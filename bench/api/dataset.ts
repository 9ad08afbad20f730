/**
 * Chain for measurements of the API, generated through the ledger and cached in the temporary folder of the system: transfers
 * between many wallets, some with a text, multi-payments, votes and uniks. The same size gives the same chain.
 * Signatures are filler: reads do not verify them, and creating them would dominate the time.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  addressFromPublicKey,
  bytesToHex,
  createGenesisBlock,
  createNetwork,
  createRounds,
  createSlots,
  encodeBlock,
  encodeTransaction,
  forgeBlock,
  type Network,
  type NetworkFiles,
  type SealedTransaction,
  sealedFromTrustedBytes,
  sha256,
  signTransaction,
  type TransactionBody,
} from "@uniknode/protocol";
import { Chain, DEFAULT_CHAIN_OPTIONS } from "../../packages/node/src/chain/chain.ts";
import { deriveAccounts } from "../../packages/node/src/dev-chain/keys.ts";
import {
  castOf,
  DEV_ADDRESS_VERSION,
  devDescription,
  devMilestones,
} from "../../packages/node/src/dev-chain/network.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import { openDatabase } from "../../packages/node/src/store/engine/database.ts";
import { migrate } from "../../packages/node/src/store/engine/migrations.ts";
import { EventLog } from "../../packages/node/src/store/events/event-log.ts";

export type Size = { readonly transactions: number; readonly wallets: number; readonly uniks: number };

export type Dataset = { readonly path: string; readonly files: NetworkFiles };

/** Must change with every change of the generated data, or of the schema. */
const FORMAT = 8;
const SENDERS = 1_000;
const PER_BLOCK = 500;
const ONE = 100_000_000n;
const FILLER = "ab".repeat(64);
/** Number of transfers between two texts, multi-payments, votes, and transfers to the wallet that all wallets pay. */
const EVERY = { text: 10, payment: 50, vote: 100, shop: 10 };

export async function loadDataset(size: Size): Promise<Dataset> {
  const folder = join(tmpdir(), `uniknode-bench-api-${[FORMAT, ...Object.values(size)].join("-")}`);
  const [path, network] = [join(folder, "node.sqlite"), join(folder, "network.json")];
  if (!existsSync(network)) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const files = await generate(path, size);
    writeFileSync(`${network}.part`, JSON.stringify(files));
    renameSync(`${network}.part`, network);
  }
  return { path, files: JSON.parse(readFileSync(network, "utf8")) };
}

const cast = castOf(
  deriveAccounts("test test test test test test test test test test test junk", DEV_ADDRESS_VERSION),
  1,
);

export type Sender = { readonly publicKey: string; readonly address: string; nonce: bigint };

/** Public keys without a private key: only their form matters. */
export function sender(index: number): Sender {
  const publicKey = `02${bytesToHex(sha256(Buffer.from(`sender ${index}`)))}`;
  return { publicKey, address: addressFromPublicKey(publicKey, DEV_ADDRESS_VERSION), nonce: 0n };
}

const recipient = (index: number) =>
  addressFromPublicKey(`03${bytesToHex(sha256(Buffer.from(`recipient ${index}`)))}`, DEV_ADDRESS_VERSION);

export function seal(body: TransactionBody): SealedTransaction {
  const bytes = encodeTransaction({ ...body, signature: FILLER });
  return sealedFromTrustedBytes(bytes, bytesToHex(sha256(bytes)));
}

async function generate(path: string, size: Size): Promise<NetworkFiles> {
  const senders = Array.from({ length: SENDERS }, (_, index) => sender(index));
  const { block: genesis, files } = createGenesis(senders);
  const network = createNetwork(files);
  const database = openDatabase(path);
  migrate(database);
  const chain = new Chain(
    { ...DEFAULT_CHAIN_OPTIONS, cacheSize: 200_000, undoDepth: 100 },
    {
      database,
      network,
      genesis,
      verifier: { verify: async (checks) => checks.map(() => true), close: async () => {} },
      events: new EventLog(database, { recordedNames: () => new Set() }),
      eventsOfFacts: () => [],
      eventsOfRevert: () => [],
      now: Date.now,
      onListenerError: () => {},
    },
  );
  const [rounds, slots] = [createRounds(network), createSlots(network)];
  const founders = new Map(cast.founders.map(({ publicKey, keys }) => [publicKey, keys]));
  const delegates = cast.founders.map(({ publicKey }) => publicKey);
  const bodies = createBodies({ ...size, network, senders, delegates });
  for (let made = 0; made < size.transactions; ) {
    const head = chain.head();
    const count = head.height === 1 ? 0 : Math.min(PER_BLOCK, size.transactions - made);
    const transactions = Array.from({ length: count }, () => seal(present(bodies.next().value)));
    const timestamp = slots.slotTime(slots.slotAt(head.timestamp) + 1);
    const { order } = present(chain.state.get("rounds", String(rounds.roundAt(head.height + 1).round)));
    const keys = present(founders.get(present(order[slots.slotAt(timestamp) % order.length])));
    const block = forgeBlock({ network, timestamp, previous: head, transactions }, keys);
    const [outcome] = await chain.accept([encodeBlock(block, network)]);
    if (outcome?.kind !== "Accepted")
      throw new Error(`block ${block.header.height}: ${JSON.stringify(outcome)}`);
    made += count;
    if (head.height % 200 === 0) process.stderr.write(`\r${made} of ${size.transactions} transactions `);
  }
  process.stderr.write("\n");
  await chain.close();
  database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  return files;
}

function createGenesis(senders: readonly Sender[]) {
  const files: NetworkFiles = {
    network: { ...devDescription(cast) },
    milestones: devMilestones(8).map(({ nbDelegatesByType: _, disableArkLegacyVote: __, ...rules }) => rules),
    exceptions: {},
  };
  const network = createNetwork(files);
  const { treasury, founders } = cast;
  const envelope = {
    version: 1 as const,
    network: network.description.pubKeyHash,
    typeGroup: 1,
    timestamp: 0,
    fee: 0n,
  };
  const transactions = [
    ...senders.map(({ address }) => ({
      keys: treasury.keys,
      body: {
        ...envelope,
        type: 0,
        senderPublicKey: treasury.publicKey,
        amount: 1_000_000n * ONE,
        recipientId: address,
        expiration: 0,
      },
    })),
    ...founders.map(({ keys, publicKey }, index) => ({
      keys,
      body: {
        ...envelope,
        type: 2,
        senderPublicKey: publicKey,
        amount: 0n,
        asset: { delegate: { username: `founder_${index}` } },
      },
    })),
  ].map(({ body, keys }) => {
    const data = signTransaction(body as TransactionBody, keys);
    return { data, bytes: encodeTransaction(data), isVerified: true };
  });
  return createGenesisBlock({ files, transactions, keys: treasury.keys });
}

export type BodiesOptions = Size & {
  readonly network: Network;
  readonly senders: readonly Sender[];
  /** Public keys of the delegates to vote for. */
  readonly delegates: readonly string[];
};

/** Generates transactions endlessly: funds every wallet first, then random wallets pay each other. */
export function* createBodies({
  network,
  senders,
  delegates,
  ...size
}: BodiesOptions): Generator<TransactionBody, never> {
  const recipients = Array.from({ length: size.wallets - senders.length }, (_, index) => recipient(index));
  const shop = present(recipients[0]);
  const votes = new Map<Sender, string>();
  const uniksEvery = Math.floor(size.transactions / size.uniks);
  let seed = 1;
  const draw = <T>(from: readonly T[]): T => {
    seed = (seed * 48271) % 2147483647;
    return present(from[seed % from.length]);
  };
  for (let index = 0; ; index++) {
    const from = present(senders[index % senders.length]);
    from.nonce += 1n;
    const envelope = {
      version: 2 as const,
      network: network.description.pubKeyHash,
      typeGroup: 1,
      nonce: from.nonce,
      senderPublicKey: from.publicKey,
      fee: ONE / 10n,
      amount: 0n,
    };
    const to = recipients[index] ?? (index % EVERY.shop === 3 ? shop : draw(recipients));
    if (index % uniksEvery === 1) {
      const tokenId = bytesToHex(sha256(Buffer.from(`unik ${index}`)));
      const properties = { type: `${1 + (index % 3)}`, "usr/name": `number ${index}` };
      yield {
        ...envelope,
        typeGroup: 2000,
        type: 0,
        fee: ONE,
        asset: { nft: { unik: { tokenId, properties } } },
      };
    } else if (index % EVERY.vote === 2) {
      const known = votes.get(from);
      const vote = known === undefined ? `+${draw(delegates)}` : `-${known}`;
      if (known === undefined) votes.set(from, vote.slice(1));
      else votes.delete(from);
      yield { ...envelope, type: 3, fee: ONE, recipientId: from.address, asset: { votes: [vote] } };
    } else if (index % EVERY.payment === 4) {
      const payments = [to, draw(recipients)].map((recipientId) => ({ amount: ONE, recipientId }));
      yield { ...envelope, type: 6, asset: { payments } };
    } else {
      const text = index % EVERY.text === 5 ? { vendorField: `invoice ${index}` } : {};
      yield { ...envelope, type: 0, amount: ONE + BigInt(index), recipientId: to, expiration: 0, ...text };
    }
  }
}
