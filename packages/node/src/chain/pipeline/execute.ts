/** Third step of the pipeline: judges a verified block and applies it to the state in memory; nothing is durable yet. */
import {
  type Change,
  createDraft,
  createRepetitions,
  isChained,
  judgeBlock,
  RuleError,
  type StateReader,
  type Verdict,
  type Wallet,
  type WalletSignatures,
} from "@uniknode/ledger";
import {
  addressFromPublicKey,
  type Block,
  type BlockHeader,
  createRounds,
  createSlots,
  isBlockException,
  type Network,
  type Rounds,
  type Slots,
} from "@uniknode/protocol";
import { Finality } from "../../event-log/finality.ts";
import type { BlockFact } from "../../events/block-events.ts";
import type { Event } from "../../events/catalogue.ts";
import { present } from "../../platform/present.ts";
import { withHoldings } from "../../store/state/holdings.ts";
import type { Outcome } from "../outcome.ts";
import type { ChainStores } from "../stores.ts";
import type { ExecutedBlock } from "./commit.ts";
import type { VerifiedBlock } from "./verify.ts";

export type ExecutorDeps = {
  readonly network: Network;
  readonly stores: Pick<ChainStores, "blocks" | "transactions" | "state" | "undo" | "events">;
  /** Verdicts about signatures that depend on wallets. If absent, they are computed. */
  readonly signatures?: WalletSignatures | undefined;
  /** Called only with facts that have subscribers. */
  readonly eventsOfFacts: (facts: readonly BlockFact[], header: BlockHeader) => Event[];
  readonly onUnexpectedError?: (error: unknown, header: BlockHeader) => void;
};

export class Executor {
  readonly #deps: ExecutorDeps;
  readonly #rounds: Rounds;
  readonly #slots: Slots;
  readonly #repetitions = createRepetitions();
  readonly #roundStart: RoundStart;
  readonly #finality: Finality;
  /** Transactions of version 1, which have no nonce, of blocks that are not committed yet: the database does not have them. */
  readonly #uncommittedIds = new Set<string>();
  #tip: BlockHeader;

  constructor(head: BlockHeader, deps: ExecutorDeps) {
    const { network, stores } = deps;
    this.#tip = head;
    this.#deps = deps;
    this.#rounds = createRounds(network);
    this.#slots = createSlots(network);
    this.#roundStart = new RoundStart({ network, rounds: this.#rounds, stores });
    this.#finality = new Finality(network, (height) => stores.blocks.header(height));
  }

  /** The last executed block. It is the head, except within the tick that executes and commits. */
  tip(): BlockHeader {
    return this.#tip;
  }

  /**
   * Returns true if a block may begin a batch: it continues the tip, or is a listed exception (consensus.md
   * 6.5).
   */
  isContinuedBy({ header, transactions }: Block): boolean {
    return (
      isChained(header, { head: this.#tip, slots: this.#slots }) ||
      isBlockException(
        header.id,
        transactions.map(({ data }) => data.id),
        this.#deps.network,
      )
    );
  }

  /** Executes a block on the tip. If it is accepted it becomes the tip, and `executed` gets its traces. */
  execute(verified: VerifiedBlock, executed: ExecutedBlock[]): Outcome {
    const { state, events } = this.#deps.stores;
    if (executed.length === 0) this.#uncommittedIds.clear();
    const verdict = this.#judge(verified);
    if (verdict.kind !== "Accepted") return verdict;
    const { changes } = verdict;
    const { block, isAssumed } = verified;
    state.write(changes);
    const facts = events.isRecorded("block.finalized")
      ? [...verdict.facts, ...this.#finality.follow(block.header)]
      : verdict.facts;
    const applied = { block, isAssumed, changes };
    const startOf = (delegate: Wallet) => this.#roundStart.of(delegate, [...executed, applied]);
    executed.push({ ...applied, events: this.#recordedEvents(facts, block.header, startOf) });
    this.#tip = block.header;
    for (const { data } of block.transactions) if (data.version === 1) this.#uncommittedIds.add(data.id);
    return { kind: "Accepted" };
  }

  /** Moves the tip to a block whose state is in memory. */
  moveTo(header: BlockHeader): void {
    this.#tip = header;
  }

  /** Returns to the last committed block, and discards what was executed since. */
  forget(head: BlockHeader): void {
    this.#tip = head;
    this.#deps.stores.state.reset();
  }

  /** Judges a block on the tip. The changes of an accepted block are in its verdict, not in the state. */
  #judge({ block, faults, isAssumed }: VerifiedBlock): Verdict {
    const { network, stores, signatures, onUnexpectedError } = this.#deps;
    const { version = 1 } = block.transactions[0]?.data ?? {};
    const isStored = (id: string) =>
      this.#uncommittedIds.has(id) || stores.transactions.storedIds([id]).length > 0;
    const verdict = judgeBlock(
      {
        network,
        rounds: this.#rounds,
        slots: this.#slots,
        repetitions: this.#repetitions,
        head: this.#tip,
        draft: createDraft(stores.state),
        isBlockStored: (id) => stores.blocks.headerById(id) !== undefined,
        // The nonces of version 2 continue the nonces of the wallets: a stored transaction would have been refused.
        isTransactionStored: version >= 2 ? () => false : isStored,
        assumesSignatures: isAssumed,
        signatures,
      },
      block,
      faults,
    );
    if (verdict.kind === "Rejected" && verdict.cause && !(verdict.cause instanceof RuleError)) {
      onUnexpectedError?.(verdict.cause, block.header);
    }
    return verdict;
  }

  #recordedEvents(
    facts: readonly BlockFact[],
    header: BlockHeader,
    startOf: (delegate: Wallet) => Wallet,
  ): Event[] {
    const { stores, eventsOfFacts } = this.#deps;
    const recorded = facts.filter(({ name }) => stores.events.isRecorded(name));
    if (recorded.length === 0) return [];
    return eventsOfFacts(
      recorded.map((fact) => shown(fact, startOf, stores.state)),
      header,
    );
  }
}

/** The state is that after the block; `startOf` returns a delegate as it was when the round began. */
function shown(
  fact: BlockFact,
  startOf: (delegate: Wallet) => Wallet,
  state: ChainStores["state"],
): BlockFact {
  switch (fact.name) {
    case "wallet.saved":
    case "wallet.created.cold":
      return { ...fact, wallet: withHoldings(state, fact.wallet) };
    case "forger.missing":
      return { ...fact, delegate: startOf(fact.delegate) };
    case "round.missed":
      return { ...fact, delegate: withHoldings(state, fact.delegate) };
    case "round.created":
      return { ...fact, delegates: fact.delegates.map((delegate) => withHoldings(state, delegate)) };
    default:
      return fact;
  }
}

/** A block whose changes may not be committed yet. */
type Executed = { readonly block: { readonly header: BlockHeader }; readonly changes: readonly Change[] };

type RoundStartDeps = Pick<ExecutorDeps, "network" | "stores"> & { readonly rounds: Rounds };

/** Delegates as they were when their round began: the content of `forger.missing`, as the old node sends it (events.md 3.1). */
class RoundStart {
  readonly #deps: RoundStartDeps;
  /** `id` is that of the block that opened the round. */
  #known: { readonly id: string; readonly delegates: ReadonlyMap<string, Wallet> } | undefined;

  constructor(deps: RoundStartDeps) {
    this.#deps = deps;
  }

  /**
   * Returns a delegate of the round of the last executed block, with its holdings, as it was when the round began. The changes since
   * then are undone once in each round: 20 to 40 ms for 23 full blocks. Far below the network, where blocks have no undo records
   * (decision 58), the delegate is returned as it is.
   */
  of(delegate: Wallet, executed: readonly Executed[]): Wallet {
    const { rounds, stores } = this.#deps;
    // The first round begins with the genesis block.
    const base = Math.max(rounds.roundAt(headOf(executed).height).roundHeight - 1, 1);
    const { id } = executedAt(base, executed)?.block.header ?? present(stores.blocks.header(base));
    if (this.#known?.id !== id) this.#known = { id, delegates: this.#delegatesAfter(base, executed) };
    // A block must not fail for the content of an event.
    return this.#known.delegates.get(delegate.address) ?? withHoldings(stores.state, delegate);
  }

  #delegatesAfter(base: number, executed: readonly Executed[]): ReadonlyMap<string, Wallet> {
    const { network, rounds, stores } = this.#deps;
    const reader = this.#readAfter(base, executed) ?? stores.state;
    const { round } = rounds.roundAt(base + 1);
    const keys = stores.state.get("rounds", String(round))?.delegates ?? [];
    const delegates = keys.map(({ publicKey }) => {
      const address = addressFromPublicKey(publicKey, network.description.pubKeyHash);
      return [address, withHoldings(reader, present(reader.get("wallets", address)))] as const;
    });
    return new Map(delegates);
  }

  /** Returns a reader of the state after the block at `base`; undefined if an undo record is missing. */
  #readAfter(base: number, executed: readonly Executed[]): Pick<StateReader, "get"> | undefined {
    const { state, undo } = this.#deps.stores;
    const before = new Map<string, unknown>();
    for (let height = headOf(executed).height; height > base; height--) {
      const changes = executedAt(height, executed)?.changes.map(({ before: after, ...row }) => ({
        ...row,
        after,
      }));
      const writes = changes ?? undo.read(height);
      if (!writes) return undefined;
      for (const { table, key, after } of writes) before.set(`${table} ${key}`, after);
    }
    return {
      get(table, key) {
        const name = `${table} ${key}`;
        return before.has(name)
          ? (before.get(name) as ReturnType<typeof state.get<typeof table>>)
          : state.get(table, key);
      },
    };
  }
}

const headOf = (executed: readonly Executed[]): BlockHeader => present(executed.at(-1)).block.header;

const executedAt = (height: number, executed: readonly Executed[]): Executed | undefined =>
  executed.find(({ block }) => block.header.height === height);
