/**
 * Past events, derived from stored blocks. They have the ids that they had when they happened. What depends on the
 * state of that time cannot be derived:
 *
 * - `wallet.saved` and `wallet.created.cold` are never derived;
 * - the delegates in `forger.missing`, `round.missed` and `round.created` have address, public key and
 *   username, and in `round.created` with the votes and the round, as the round was set up;
 * - everything else is exactly what it was.
 */
import { createRounds, missedSlots, type Round, transactionFacts } from "@uniknode/ledger";
import {
  addressFromPublicKey,
  type Block,
  createSlots,
  type Network,
  type Transaction,
} from "@uniknode/protocol";
import { eventsOfFacts, factId } from "../events/block-events.ts";
import { isChainFact, isRetraction } from "../events/catalogue.ts";
import type { JsonObject } from "../events/content.ts";
import type { Event } from "../events/event.ts";
import { createBlockStore } from "../store/chain/blocks.ts";
import { createRecords } from "../store/chain/records.ts";
import { createOwnerStore, movesToken, type Position } from "../store/chain/token-owners.ts";
import type { Database } from "../store/engine/database.ts";

export type History = {
  /** Height of the last block; 0 in an empty database. */
  head(): number;
  /**
   * In the order in which they happened; none above the head. To be called inside a transaction, so that all of it is
   * one block.
   */
  eventsAt(height: number): Event[];
};

const LOST: ReadonlySet<string> = new Set(["wallet.saved", "wallet.created.cold"]);

/** Whether events of this name can be derived from stored blocks. */
export const isRemembered = (name: string): boolean =>
  isChainFact(name) && !isRetraction(name) && !LOST.has(name);

export function createHistory(database: Database, network: Network): History {
  const blocks = createBlockStore(database);
  const records = createRecords(database);
  const owners = createOwnerStore(database);
  const usernames = database.prepare<{ username: string | null }>(
    "SELECT username FROM wallets WHERE public_key = +?",
  );
  const generators = database.prepare<{ generator: string }>(
    "SELECT DISTINCT generator FROM blocks WHERE height BETWEEN ? AND ?",
  );
  const rounds = createRounds(network);
  const slots = createSlots(network);

  const addressOf = (publicKey: string) => addressFromPublicKey(publicKey, network.description.pubKeyHash);

  function delegateData(publicKey: string): JsonObject {
    const username = usernames.get(publicKey)?.username ?? undefined;
    return { address: addressOf(publicKey), publicKey, ...(username !== undefined && { username }) };
  }

  const roundOf = (round: number): Round | undefined => records.read("rounds", String(round));

  function missedEvents({ header }: Block): Event[] {
    const previous = blocks.header(header.height - 1);
    const round = roundOf(rounds.roundAt(header.height).round);
    if (!previous || !round) return [];
    return missedSlots(slots, round, previous, header.timestamp).map(({ slot, delegate }) => ({
      ...namedFact("forger.missing", header.id, slot),
      data: { delegate: delegateData(delegate) },
    }));
  }

  /** The end of one round and the beginning of the next, with the last block of a round. */
  function roundEvents({ header }: Block): Event[] {
    const next = rounds.roundAt(header.height + 1);
    const begun = roundOf(next.round);
    if (header.height === 1 || !next.isNewRound || !begun) return [];
    const ended = roundOf(next.round - 1);
    return [
      ...(ended ? idleDelegates(ended, header.height) : []).map((publicKey) => ({
        ...namedFact("round.missed", header.id, next.round - 1, addressOf(publicKey)),
        data: { delegate: delegateData(publicKey) },
      })),
      {
        ...namedFact("round.created", header.id, next.round),
        data: begun.delegates.map(({ publicKey, voteBalance }) => ({
          ...delegateData(publicKey),
          votes: `${voteBalance}`,
          round: next.round,
        })),
      },
      namedFact("round.applied", header.id, next.round),
    ];
  }

  function idleDelegates({ height, delegates }: Round, lastHeight: number): string[] {
    const busy = new Set(generators.all(height, lastHeight).map(({ generator }) => generator));
    return delegates.map(({ publicKey }) => publicKey).filter((publicKey) => !busy.has(publicKey));
  }

  function transactionEvents({ header, transactions }: Block): Event[] {
    const facts = transactions.flatMap(({ data }, sequence) =>
      transactionFacts(data, sequence, (tokenId) =>
        ownerAfter(tokenId, data, { height: header.height, sequence }),
      ),
    );
    return eventsOfFacts(facts, header);
  }

  function ownerAfter(tokenId: string, transaction: Transaction, position: Position): string | undefined {
    if (movesToken(transaction)) return transaction.recipientId;
    // The sender of a mint or an update is the owner.
    if (transaction.asset?.nft) return addressOf(transaction.senderPublicKey);
    const owner = owners.ownerAfter(tokenId, position);
    return owner && ("address" in owner ? owner.address : addressOf(owner.publicKey));
  }

  return {
    head: () => blocks.head()?.height ?? 0,
    eventsAt(height) {
      const block = blocks.block(height);
      if (!block) return [];
      const source = { height, blockId: block.header.id };
      return [
        ...[...missedEvents(block), ...roundEvents(block)].map((event) => ({ ...event, ...source })),
        ...transactionEvents(block),
        ...eventsOfFacts([{ name: "block.applied", header: block.header }], block.header),
      ];
    },
  };
}

const namedFact = (name: string, blockId: string, ...parts: (string | number)[]) => ({
  id: factId(name, blockId, ...parts),
  name,
});
