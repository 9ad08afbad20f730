/** Records the actions on a dev chain, and returns them as a scenario. */
import type { Scenario, Step } from "@uniknode/client/testing";
import type { Network, Transaction } from "@uniknode/protocol";
import type { Chain } from "../../chain/port.ts";
import type { ChainCommand } from "../../gateway/dev-commands.ts";
import type { Subscribe } from "../../platform/subscribers.ts";
import type { PoolEvent } from "../../pool/events.ts";
import type { Performed } from "../commands.ts";
import type { Cast } from "../network.ts";
import { SETUP_HEIGHT } from "../setup.ts";
import { addCommand, addMined, addTransaction, createJournal, type Journal } from "./journal.ts";
import { createRecordedNames } from "./names.ts";
import { tokensOf, transactionStep } from "./transactions.ts";

/** The parts of a node that are recorded. */
export type RecordedParts = {
  readonly chain: Pick<Chain, "head" | "state" | "subscribe">;
  readonly pool: { readonly subscribe: Subscribe<PoolEvent> };
};

export type Recorder = {
  /** Called after each command that the chain has performed. */
  readonly performed: (command: ChainCommand, performed: Performed) => void;
  /** Returns the steps since the start of the recording, and the present state as expectations. */
  readonly scenario: () => Scenario;
  /** Forgets all steps, and begins at the head. */
  readonly restart: () => void;
};

/** Maximum of accounts whose balance is expected. */
const MAX_BALANCES = 64;

type Recording = {
  readonly journal: Journal;
  /** Names of uniks that were minted meanwhile, by id. */
  readonly uniks: Map<string, string>;
  /** Balances of accounts before their first transaction, by address. */
  readonly balances: Map<string, bigint>;
};

type State = {
  readonly parts: RecordedParts;
  readonly cast: Cast;
  readonly network: Network;
  recording: Recording;
};

export function createRecorder(parts: RecordedParts, cast: Cast, network: Network): Recorder {
  const state: State = { parts, cast, network, recording: startRecording(parts) };
  parts.chain.subscribe(({ head, applied, revertedBlocks }) => {
    // The setup blocks are part of every dev chain. Reverts are recorded with their command.
    if (head.height > SETUP_HEIGHT && revertedBlocks === 0) addMined(state.recording.journal, applied.length);
  });
  parts.pool.subscribe((event) => {
    if (event.name !== "transaction.pool.added") return;
    for (const { data } of event.transactions) record(state, data);
  });
  return {
    performed: (command, performed) => addCommand(state.recording.journal, command, performed),
    scenario: () => scenarioOf(state),
    restart() {
      state.recording = startRecording(parts);
    },
  };
}

const startRecording = ({ chain }: RecordedParts): Recording => ({
  journal: createJournal(Math.max(chain.head().height, SETUP_HEIGHT)),
  uniks: new Map(),
  balances: new Map(),
});

function record(state: State, transaction: Transaction): void {
  const { parts, cast, network, recording } = state;
  const { journal, uniks } = recording;
  const { id, typeGroup, type } = transaction;
  // Transactions of reverted blocks are added to the pool again.
  if (journal.transactions.has(id) || journal.isFull) return;
  rememberBalances(state, transaction);
  const names = createRecordedNames(cast, uniks);
  const step = transactionStep(transaction, names, network.milestoneAt(parts.chain.head().height));
  const note = `not recorded: transaction ${id} of group ${typeGroup}, type ${type}, which a scenario cannot have`;
  addTransaction(journal, id, step ?? { note });
}

/** Delegates are left out: they get rewards for blocks, whose order differs between runs. */
function rememberBalances(
  { parts, cast, recording: { balances } }: State,
  { senderPublicKey, recipientId }: Transaction,
): void {
  for (const { address, publicKey } of cast.accounts) {
    if (publicKey !== senderPublicKey && address !== recipientId) continue;
    if (balances.has(address) || balances.size === MAX_BALANCES) continue;
    balances.set(address, balanceOf(parts, address));
  }
}

const balanceOf = ({ chain }: RecordedParts, address: string): bigint =>
  chain.state.get("wallets", address)?.balance ?? 0n;

function scenarioOf({ parts, cast, recording: { journal, balances } }: State): Scenario {
  const { startHeight, steps, isFull } = journal;
  const notes: Step[] = [];
  if (startHeight > SETUP_HEIGHT) {
    notes.push({ note: `the recording began at height ${startHeight}: earlier actions are missing` });
  }
  if (isFull)
    notes.push({ note: `the recording is full after ${steps.length} steps: later actions are missing` });
  const change = parts.chain.head().height - startHeight;
  return {
    scenario: 1,
    name: "recording of a dev chain",
    steps: [
      ...notes,
      ...steps,
      // A full recording ends before the present state.
      ...(isFull
        ? []
        : [{ expect: { height: withSign(BigInt(change), String) } }, ...balanceSteps(parts, cast, balances)]),
    ],
  };
}

const balanceSteps = (
  parts: RecordedParts,
  { accounts }: Cast,
  balances: ReadonlyMap<string, bigint>,
): Step[] =>
  accounts.flatMap(({ address }, index) => {
    const before = balances.get(address);
    if (before === undefined) return [];
    const is = withSign(balanceOf(parts, address) - before, tokensOf);
    return [{ expect: { balance: { of: `account ${index}`, is } } }];
  });

const withSign = (value: bigint, format: (absolute: bigint) => string): string =>
  value < 0n ? `-${format(-value)}` : `+${format(value)}`;
