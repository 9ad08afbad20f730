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

export type PastFacts = {
  /**
   * Returns the facts in the order of events.md 3.1, except blocks that became final (`finality.ts`).
   *
   * @param block on the chain
   * @param known data that need not be read
   */
  of(block: Block, known?: KnownOfBlock): PastFact[];
  /** Must be called after blocks were reverted, if `of` was called before. */
  forget(): void;
};

export function createPastFacts(lookups: FactLookups, network: Network): PastFacts {
  const roundFacts = createRoundFacts(lookups, network);
  const addressOf = (publicKey: string) => addressFromPublicKey(publicKey, network.description.pubKeyHash);

  function ownerAfter(tokenId: string, transaction: Transaction, position: Position): string | undefined {
    if (movesToken(transaction)) return transaction.recipientId;
    // The sender of a mint or an update is the owner.
    if (transaction.asset?.nft) return addressOf(transaction.senderPublicKey);
    const owner = lookups.ownerAfter(tokenId, position);
    return owner && ("address" in owner ? owner.address : addressOf(owner.publicKey));
  }

  return {
    of({ header, transactions }, known = {}) {
      const facts = roundFacts.of(header, known);
      for (const [sequence, { data }] of transactions.entries()) {
        const position = { height: header.height, sequence };
        const applied = transactionFacts(data, sequence, (tokenId) => ownerAfter(tokenId, data, position));
        // Facts of transactions are past facts as they are.
        facts.push(...(applied as PastFact[]));
      }
      facts.push({ name: "block.applied", header });
      return facts;
    },
    forget: roundFacts.forget,
  };
}

/** Derives the facts about rounds: missed slots, and at the last block of a round its end and the beginning of the next. */
function createRoundFacts(lookups: FactLookups, network: Network) {
  const calendar = createRounds(network);
  const slots = createSlots(network);
  const recent = createRecentRounds(lookups);
  const run = createGeneratorRun(lookups);

  function missedFacts({ height, timestamp }: BlockHeader, given?: BlockHeader): PastFact[] {
    const previous = given ?? lookups.header(height - 1);
    if (!previous || slots.slotAt(timestamp) <= slots.slotAt(previous.timestamp) + 1) return [];
    const round = recent.round(calendar.roundAt(height).round);
    if (!round) return [];
    return missedSlots(slots, round, previous, timestamp).map(({ slot, delegate }) => ({
      name: "forger.missing",
      publicKey: delegate,
      slot,
    }));
  }

  function lastBlockFacts({ height }: BlockHeader): PastFact[] {
    const next = calendar.roundAt(height + 1);
    if (height === 1 || !next.isNewRound) return [];
    const ended = recent.round(next.round - 1);
    const begun = recent.round(next.round);
    if (!begun) return [];
    const idle = ended ? run.idleDelegates(ended, height) : [];
    return [
      ...idle.map((publicKey): RoundFact => ({ name: "round.missed", publicKey, round: next.round - 1 })),
      { name: "round.created", delegates: begun.delegates, round: next.round },
      { name: "round.applied", round: next.round },
    ];
  }

  return {
    of(header: BlockHeader, { previous, opened }: KnownOfBlock): PastFact[] {
      if (opened) recent.remember(opened);
      run.follow(header);
      return [...missedFacts(header, previous), ...lastBlockFacts(header)];
    },
    forget() {
      recent.forget();
      run.forget();
    },
  };
}

/** Keeps the last two rounds by number: the next block needs no others. */
function createRecentRounds(lookups: Pick<FactLookups, "round">) {
  const known = new Map<number, Round>();

  function remember(round: Round): void {
    known.set(round.round, round);
    for (const number of known.keys()) if (number < round.round - 1) known.delete(number);
  }

  return {
    remember,
    round(number: number): Round | undefined {
      const round = known.get(number) ?? lookups.round(number);
      if (round) remember(round);
      return round;
    },
    forget: () => known.clear(),
  };
}

/** Keeps the forgers of consecutive blocks, from the beginning of a round or from within one. */
function createGeneratorRun(lookups: Pick<FactLookups, "generators">) {
  let run = { from: 0, to: 0, generators: new Set<string>() };
  return {
    /** Adds the block to the run, or begins another one with it. */
    follow({ height, generatorPublicKey }: BlockHeader): void {
      if (height !== run.to + 1) run = { from: height, to: height - 1, generators: new Set() };
      run.to = height;
      run.generators.add(generatorPublicKey);
    },
    /** Returns the delegates that forged no block of a round, and begins a run after it. */
    idleDelegates({ height, delegates }: Round, lastHeight: number): string[] {
      const isRunOfRound = run.from === height && run.to === lastHeight;
      const busy = isRunOfRound ? run.generators : lookups.generators(height, lastHeight);
      run = { from: lastHeight + 1, to: lastHeight, generators: new Set() };
      return delegates.map(({ publicKey }) => publicKey).filter((publicKey) => !busy.has(publicKey));
    },
    forget() {
      run = { from: 0, to: 0, generators: new Set() };
    },
  };
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
