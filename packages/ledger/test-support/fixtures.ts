/** Small network, actors and transactions for the tests of the ledger. */
import {
  applyBlock,
  applyGenesis,
  applyTransaction,
  type Change,
  createDraft,
  createMemoryState,
  createRepetitions,
  type Delegate,
  type Draft,
  type Fact,
  type JudgeContext,
  type MemoryState,
  type RuleContext,
  RuleError,
  TABLE_NAMES,
  walletOf,
} from "@uniknode/ledger";
import {
  type Block,
  type BlockHeader,
  bytesToHex,
  createNetwork,
  createRounds,
  createSlots,
  type KeyPair,
  keysFromPassphrase,
  type MilestoneChange,
  type Network,
  type NetworkDescription,
  present,
  type SealedTransaction,
  sha256,
  type Transaction,
  utf8ToBytes,
} from "@uniknode/protocol";
import { putWallet, type ShownWallet, shownAttributes } from "./holdings.ts";

const share = (sender: number) => ({ forger: 1, sender, foundation: 100 });

/** Network on which every rule of the ledger is active, three delegates, slots of 8 seconds. */
const GENESIS_MILESTONE: MilestoneChange = {
  height: 1,
  epoch: "2020-01-01T00:00:00.000Z",
  reward: 2,
  activeDelegates: 3,
  blocktime: 8,
  block: { version: 0, maxTransactions: 500, maxPayload: 2_000_000, idFullSha256: true },
  fees: { staticFees: {} },
  vendorFieldLength: 255,
  multiPaymentLimit: 128,
  aip11: true,
  htlcEnabled: true,
  voucherRewards: { individual: share(10), organization: share(20), network: share(30) },
};

const derivedKeys = new Map<string, KeyPair>();

/** Keys of an actor. They are remembered: deriving them costs more than applying a transaction. */
export function keysOf(name: string): KeyPair {
  const keys = derivedKeys.get(name) ?? keysFromPassphrase(name);
  derivedKeys.set(name, keys);
  return keys;
}

export const publicKeyOf = (name: string): string => bytesToHex(keysOf(name).publicKey);

/** Network with further milestones; members of the first one can be replaced by one of height 1. */
export function networkWith(
  milestones: readonly MilestoneChange[] = [],
  description: Partial<NetworkDescription> = {},
): Network {
  return createNetwork({
    network: {
      name: "testing",
      messagePrefix: "",
      bip32: { public: 1, private: 2 },
      pubKeyHash: 30,
      nethash: "",
      wif: 1,
      slip44: 1,
      aip20: 0,
      client: { token: "", symbol: "", explorer: "" },
      foundation: { publicKey: publicKeyOf("foundation") },
      ...description,
    },
    milestones: [GENESIS_MILESTONE, ...milestones],
    exceptions: {},
  });
}

export const network = networkWith();
export const addressOfName = (name: string): string =>
  walletOf(createMemoryState(), publicKeyOf(name), network).address;

export const someDelegate = (members: Partial<Delegate> = {}): Delegate => ({
  username: "delegate",
  voteBalance: 0n,
  forgedFees: 0n,
  forgedRewards: 0n,
  producedBlocks: 0,
  round: 0,
  ...members,
});

let counter = 0;

/** Transaction of `type` ("group/type"), by default with a new id, nonce 1 and a fee of 1. */
export function transactionOf(type: string, sender: string, members: Partial<Transaction> = {}): Transaction {
  const [typeGroup, number] = type.split("/").map(Number);
  return {
    version: 2,
    network: 30,
    typeGroup: present(typeGroup, "typeGroup"),
    type: present(number, "number"),
    nonce: 1n,
    senderPublicKey: publicKeyOf(sender),
    fee: 1n,
    amount: 0n,
    id: bytesToHex(sha256(utf8ToBytes(`transaction ${counter++}`))),
    ...members,
  };
}

/** Wallets by the name of their owner; the public key is known. */
export type Actors = Readonly<Record<string, Partial<Omit<ShownWallet, "address" | "publicKey">>>>;

/** Draft with the wallets of the actors. */
export function stateOf(actors: Actors): Draft {
  const draft = createDraft(createMemoryState());
  for (const [name, members] of Object.entries(actors)) {
    const wallet: ShownWallet = {
      ...walletOf(draft, publicKeyOf(name), network),
      attributes: {},
      ...members,
    };
    putWallet(draft, wallet);
    const { delegate } = wallet.attributes;
    if (delegate) draft.set("usernames", delegate.username, wallet.address);
  }
  // The initial state of the test is not a change of it.
  const state = createMemoryState();
  state.commit(draft.changes());
  return createDraft(state);
}

export type Situation = Partial<
  Pick<RuleContext, "network" | "milestone" | "head" | "blockTimestamp" | "assumesSignatures" | "state">
>;

/** Context on a draft, at height 10 by default. */
export function contextOn(draft: Draft, situation: Situation = {}): RuleContext {
  const used = situation.network ?? network;
  const head = situation.head ?? { height: 10, timestamp: 80 };
  return { network: used, milestone: used.milestoneAt(head.height), head, state: draft, draft, ...situation };
}

/** The wallet of an actor with what it holds. */
export function walletNamed(draft: Draft, name: string): ShownWallet {
  const wallet = walletOf(draft, publicKeyOf(name), network);
  return { ...wallet, attributes: shownAttributes(draft, wallet) };
}

/** Name of the refusal; the draft must not have been changed. Empty if the transaction was applied. */
export function refusalOf(draft: Draft, transaction: Transaction, situation?: Situation): string {
  const before = draft.changes();
  try {
    applyTransaction(transaction, contextOn(draft, situation));
    return "";
  } catch (error) {
    if (!(error instanceof RuleError)) throw error;
    const after = draft.changes();
    if (JSON.stringify(after, bigints) !== JSON.stringify(before, bigints)) {
      throw new Error(`${error.code} left a trace`);
    }
    return error.code;
  }
}

const bigints = (_key: string, value: unknown) => (typeof value === "bigint" ? `${value}n` : value);

/** Applies the transaction, or fails with the refusal. */
export const apply = (draft: Draft, transaction: Transaction, situation?: Situation): void =>
  applyTransaction(transaction, contextOn(draft, situation));

/** Sealed transaction; its bytes are arbitrary. */
export const sealed = (data: Transaction, isVerified = true): SealedTransaction => ({
  data,
  bytes: new Uint8Array(),
  isVerified,
});

/** Block with an invented id. The totals follow from the transactions. */
export function blockOf(
  members: Partial<BlockHeader>,
  transactions: readonly SealedTransaction[] = [],
): Block {
  const sum = (amount: (transaction: Transaction) => bigint) =>
    transactions.reduce((total, { data }) => total + amount(data), 0n);
  const id = bytesToHex(sha256(utf8ToBytes(`block ${counter++}`)));
  const header: BlockHeader = {
    id,
    idHex: id,
    version: 0,
    timestamp: 0,
    height: 1,
    previousBlock: "0",
    previousBlockHex: "0000000000000000",
    numberOfTransactions: transactions.length,
    totalAmount: sum(({ amount }) => amount),
    totalFee: sum(({ fee }) => fee),
    reward: 2n,
    payloadLength: 0,
    payloadHash: "",
    generatorPublicKey: publicKeyOf("unknown"),
    blockSignature: "",
    ...members,
  };
  return { header, transactions };
}

type ChainState = {
  readonly network: Network;
  readonly state: MemoryState;
  readonly rounds: ReturnType<typeof createRounds>;
  readonly slots: ReturnType<typeof createSlots>;
  readonly blocks: Block[];
  /** State after each block. */
  readonly images: string[];
  readonly undo: (readonly Change[])[];
};

/** Chain whose genesis block gives everything to "premine" and creates the delegates. */
export function createChain(used: Network = network, delegates = ["d0", "d1", "d2", "d3"]) {
  const state = createMemoryState();
  const genesis = genesisWith(delegates);
  const draft = createDraft(state);
  applyGenesis(draft, used, genesis);
  state.commit(draft.changes());
  const chain: ChainState = {
    network: used,
    state,
    rounds: createRounds(used),
    slots: createSlots(used),
    blocks: [genesis],
    images: [imageOf(state)],
    undo: [],
  };
  const { blocks, images, undo } = chain;
  const next = (transactions?: readonly Transaction[], skipped?: number) =>
    nextBlock(chain, transactions, skipped);
  return {
    ...chain,
    head: () => headOf(chain),
    orderAt: (height: number) => orderAt(chain, height),
    next,
    append: (block: Block = next()) => appendBlock(chain, block),
    /** Image of the state after the block of a height. */
    imageAt: (height: number) => images[height - 1],
    image: () => imageOf(state),
    /** Reverts the head. */
    revert() {
      state.revert(present(undo.pop(), "the last of undo"));
      blocks.pop();
      images.pop();
    },
    wallet: (name: string) => walletOf(state, publicKeyOf(name), used),
    context: () => judgeContext(chain),
  };
}

const genesisWith = (delegates: readonly string[]): Block =>
  blockOf({ reward: 0n }, [
    sealed(
      transactionOf("1/0", "genesis", {
        version: 1,
        fee: 0n,
        amount: 1_000_000n,
        recipientId: addressOfName("premine"),
      }),
    ),
    ...delegates.map((username) =>
      sealed(transactionOf("1/2", username, { version: 1, fee: 0n, asset: { delegate: { username } } })),
    ),
  ]);

const headOf = ({ blocks }: ChainState): BlockHeader => present(blocks.at(-1), "the last of blocks").header;

const orderAt = ({ state, rounds }: ChainState, height: number) =>
  present(state.get("rounds", String(rounds.roundAt(height).round)), "an entry of state").order;

/** Next block after the head, by the delegate of its slot, `skipped` slots later than possible. */
function nextBlock(chain: ChainState, transactions: readonly Transaction[] = [], skipped = 0): Block {
  const { network, slots } = chain;
  const head = headOf(chain);
  const height = head.height + 1;
  const slot = slots.slotAt(head.timestamp) + 1 + skipped;
  const order = orderAt(chain, height);
  return blockOf(
    {
      height,
      timestamp: slots.slotTime(slot),
      previousBlock: head.id,
      generatorPublicKey: present(order[slot % order.length], "an item of order"),
      reward: BigInt(network.milestoneAt(height).reward),
    },
    transactions.map((transaction) => sealed(transaction)),
  );
}

function appendBlock(chain: ChainState, block: Block): readonly Fact[] {
  const { network, state, rounds, slots, blocks, images, undo } = chain;
  const { facts, changes } = applyBlock(
    { network, rounds, slots, head: headOf(chain) },
    createDraft(state),
    block,
  );
  state.commit(changes);
  blocks.push(block);
  undo.push(changes);
  images.push(imageOf(state));
  return facts;
}

const judgeContext = (chain: ChainState): JudgeContext => ({
  network: chain.network,
  rounds: chain.rounds,
  slots: chain.slots,
  head: headOf(chain),
  draft: createDraft(chain.state),
  isBlockStored: (id) => chain.blocks.some(({ header }) => header.id === id),
  isTransactionStored: (id) =>
    chain.blocks.some(({ transactions }) => transactions.some(({ data }) => data.id === id)),
  repetitions: createRepetitions(),
});

/** Every record of a state as text, down to the order of members. */
const imageOf = (state: MemoryState): string =>
  JSON.stringify(
    TABLE_NAMES.map((table) => [table, state.entries(table).sort(([a], [b]) => (a < b ? -1 : 1))]),
    bigints,
  );
