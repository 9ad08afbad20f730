/**
 * Facts of stored blocks that follow from the stored chain alone, and their events, with the ids and contents that `history.ts`
 * describes. A delegate is its public key: the rest of its wallet at that time is not stored. Facts about wallets cannot be derived,
 * and are missing.
 */
import { type Fact, missedSlots, type Round, transactionFacts } from "@uniknode/ledger";
import {
  addressFromPublicKey,
  type Block,
  type BlockHeader,
  createRounds,
  createSlots,
  type Network,
  type Rounds,
  type Slots,
  type Transaction,
} from "@uniknode/protocol";
import { eventsOfFacts, type FinalBlock, factId, sourceOf } from "../events/block-events.ts";
import type { Event } from "../events/catalogue.ts";
import type { JsonObject } from "../events/content.ts";
import { type FactLookups, movesToken, type Position } from "../store/chain/fact-lookups.ts";

/** A fact about the delegates of a round. */
type RoundFact =
  | { readonly name: "forger.missing"; readonly publicKey: string; readonly slot: number }
  | { readonly name: "round.missed"; readonly publicKey: string; readonly round: number }
  /** Delegates in the order of selection, with their votes when the round was created. */
  | { readonly name: "round.created"; readonly delegates: Round["delegates"]; readonly round: number };

export type PastFact =
  | RoundFact
  | Exclude<Fact, { readonly name: RoundFact["name"] | "wallet.saved" | "wallet.created.cold" }>;

/** Data of a block that the caller may have already. */
type KnownOfBlock = {
  /** Header of the block below it. */
  readonly previous?: BlockHeader | undefined;
  /** The round that the block opened, if any. */
  readonly opened?: Round | undefined;
};

export class PastFacts {
  readonly #lookups: FactLookups;
  readonly #network: Network;
  readonly #roundFacts: RoundFacts;

  constructor(lookups: FactLookups, network: Network) {
    this.#lookups = lookups;
    this.#network = network;
    this.#roundFacts = new RoundFacts(lookups, network);
  }

  /**
   * Returns the facts in the order of events.md 3.1, except blocks that became final (`finality.ts`).
   *
   * @param block on the chain
   * @param known data that need not be read
   */
  of({ header, transactions }: Block, known: KnownOfBlock = {}): PastFact[] {
    const facts = this.#roundFacts.of(header, known);
    for (const [sequence, { data }] of transactions.entries()) {
      const position = { height: header.height, sequence };
      const applied = transactionFacts(data, sequence, (tokenId) =>
        this.#ownerAfter(tokenId, data, position),
      );
      // Facts of transactions are past facts as they are.
      facts.push(...(applied as PastFact[]));
    }
    facts.push({ name: "block.applied", header });
    return facts;
  }

  /** Must be called after blocks were reverted, if `of` was called before. */
  forget(): void {
    this.#roundFacts.forget();
  }

  #ownerAfter(tokenId: string, transaction: Transaction, position: Position): string | undefined {
    if (movesToken(transaction)) return transaction.recipientId;
    // The sender of a mint or an update is the owner.
    if (transaction.asset?.nft) return this.#addressOf(transaction.senderPublicKey);
    const owner = this.#lookups.ownerAfter(tokenId, position);
    return owner && ("address" in owner ? owner.address : this.#addressOf(owner.publicKey));
  }

  #addressOf(publicKey: string): string {
    return addressFromPublicKey(publicKey, this.#network.description.pubKeyHash);
  }
}

/** Derives the facts about rounds: missed slots, and at the last block of a round its end and the beginning of the next. */
class RoundFacts {
  readonly #lookups: FactLookups;
  readonly #calendar: Rounds;
  readonly #slots: Slots;
  /** The last two rounds by number: the next block needs no others. */
  readonly #recent = new Map<number, Round>();
  readonly #run: GeneratorRun;

  constructor(lookups: FactLookups, network: Network) {
    this.#lookups = lookups;
    this.#calendar = createRounds(network);
    this.#slots = createSlots(network);
    this.#run = new GeneratorRun(lookups);
  }

  of(header: BlockHeader, { previous, opened }: KnownOfBlock): PastFact[] {
    if (opened) this.#remember(opened);
    this.#run.follow(header);
    return [...this.#missedFacts(header, previous), ...this.#lastBlockFacts(header)];
  }

  forget(): void {
    this.#recent.clear();
    this.#run.forget();
  }

  #missedFacts({ height, timestamp }: BlockHeader, given?: BlockHeader): PastFact[] {
    const slots = this.#slots;
    const previous = given ?? this.#lookups.header(height - 1);
    if (!previous || slots.slotAt(timestamp) <= slots.slotAt(previous.timestamp) + 1) return [];
    const round = this.#round(this.#calendar.roundAt(height).round);
    if (!round) return [];
    return missedSlots(slots, round, previous, timestamp).map(({ slot, delegate }) => ({
      name: "forger.missing",
      publicKey: delegate,
      slot,
    }));
  }

  #lastBlockFacts({ height }: BlockHeader): PastFact[] {
    const next = this.#calendar.roundAt(height + 1);
    if (height === 1 || !next.isNewRound) return [];
    const ended = this.#round(next.round - 1);
    const begun = this.#round(next.round);
    if (!begun) return [];
    const idle = ended ? this.#run.idleDelegates(ended, height) : [];
    return [
      ...idle.map((publicKey): RoundFact => ({ name: "round.missed", publicKey, round: next.round - 1 })),
      { name: "round.created", delegates: begun.delegates, round: next.round },
      { name: "round.applied", round: next.round },
    ];
  }

  #round(number: number): Round | undefined {
    const round = this.#recent.get(number) ?? this.#lookups.round(number);
    if (round) this.#remember(round);
    return round;
  }

  #remember(round: Round): void {
    this.#recent.set(round.round, round);
    for (const number of this.#recent.keys()) if (number < round.round - 1) this.#recent.delete(number);
  }
}

/** Keeps the forgers of consecutive blocks, from the beginning of a round or from within one. */
class GeneratorRun {
  readonly #lookups: Pick<FactLookups, "generators">;
  #run = { from: 0, to: 0, generators: new Set<string>() };

  constructor(lookups: Pick<FactLookups, "generators">) {
    this.#lookups = lookups;
  }

  /** Adds the block to the run, or begins another one with it. */
  follow({ height, generatorPublicKey }: BlockHeader): void {
    if (height !== this.#run.to + 1) this.#beginAfter(height - 1);
    this.#run.to = height;
    this.#run.generators.add(generatorPublicKey);
  }

  /** Returns the delegates that forged no block of a round, and begins a run after it. */
  idleDelegates({ height, delegates }: Round, lastHeight: number): string[] {
    const { from, to, generators } = this.#run;
    const isRunOfRound = from === height && to === lastHeight;
    const busy = isRunOfRound ? generators : this.#lookups.generators(height, lastHeight);
    this.#beginAfter(lastHeight);
    return delegates.map(({ publicKey }) => publicKey).filter((publicKey) => !busy.has(publicKey));
  }

  forget(): void {
    this.#run = { from: 0, to: 0, generators: new Set() };
  }

  #beginAfter(height: number): void {
    this.#run = { from: height + 1, to: height, generators: new Set() };
  }
}

/** @param usernameOf returns the present username of a delegate */
export function createFactEvents(
  network: Network,
  usernameOf: (publicKey: string) => string | undefined,
): (fact: PastFact | FinalBlock, header: BlockHeader) => Event[] {
  const slots = createSlots(network);
  function delegateData(publicKey: string): JsonObject {
    const username = usernameOf(publicKey);
    const address = addressFromPublicKey(publicKey, network.description.pubKeyHash);
    return { address, publicKey, ...(username !== undefined && { username }) };
  }

  return (fact, header) => {
    const source = sourceOf(header, slots);
    const named = (...parts: (string | number)[]) => ({
      id: factId(fact.name, header.id, ...parts),
      name: fact.name,
      ...source,
    });
    switch (fact.name) {
      case "forger.missing":
        return [{ ...named(fact.slot), data: { delegate: delegateData(fact.publicKey) } }];
      case "round.missed": {
        const delegate = delegateData(fact.publicKey);
        return [{ ...named(fact.round, `${delegate.address}`), data: { delegate } }];
      }
      case "round.created": {
        const data = fact.delegates.map(({ publicKey, voteBalance }) => ({
          ...delegateData(publicKey),
          votes: `${voteBalance}`,
          round: fact.round,
        }));
        return [{ ...named(fact.round), data }];
      }
      default:
        return eventsOfFacts([fact], header, slots);
    }
  };
}
