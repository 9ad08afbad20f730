/**
 * Derives past events from stored blocks. Their ids equal the original ones. Contents that depend on the state of that
 * time cannot be derived:
 *
 * - `wallet.saved` and `wallet.created.cold` are never derived;
 * - the delegates in `forger.missing`, `round.missed` and `round.created` have address, public key and
 *   username, and in `round.created` with the votes and the round, as the round was set up;
 * - everything else is exactly what it was.
 */
import { addressFromPublicKey, type BlockHeader, type Network } from "@uniknode/protocol";
import { eventsOfFacts, factId } from "../events/block-events.ts";
import { isChainFact, isRetraction } from "../events/catalogue.ts";
import type { JsonObject } from "../events/content.ts";
import type { Event } from "../events/event.ts";
import { createBlockStore } from "../store/chain/blocks.ts";
import type { Database } from "../store/engine/database.ts";
import { createPastFacts, type PastFact } from "./past-facts.ts";

export type History = {
  /** Height of the last block; 0 in an empty database. */
  head(): number;
  /**
   * Returns the events of a block in the order in which they happened; none above the head. Must be called
   * inside a transaction, so that all events belong to one block.
   */
  eventsAt(height: number): Event[];
};

const LOST: ReadonlySet<string> = new Set(["wallet.saved", "wallet.created.cold"]);

/** Returns true if events of this name can be derived from stored blocks. */
export const isRemembered = (name: string): boolean =>
  isChainFact(name) && !isRetraction(name) && !LOST.has(name);

export function createHistory(database: Database, network: Network): History {
  const blocks = createBlockStore(database);
  const usernames = database.prepare<{ username: string | null }>(
    "SELECT username FROM wallets WHERE public_key = +?",
  );
  const pastFacts = createPastFacts(database, network);

  function delegateData(publicKey: string): JsonObject {
    const username = usernames.get(publicKey)?.username ?? undefined;
    const address = addressFromPublicKey(publicKey, network.description.pubKeyHash);
    return { address, publicKey, ...(username !== undefined && { username }) };
  }

  function eventsOf(fact: PastFact, header: BlockHeader): Event[] {
    const source = { height: header.height, blockId: header.id };
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
        return eventsOfFacts([fact], header);
    }
  }

  return {
    head: () => blocks.head()?.height ?? 0,
    eventsAt(height) {
      const block = blocks.block(height);
      if (!block) return [];
      // Other calls may have seen another chain.
      pastFacts.forget();
      return pastFacts.of(block).flatMap((fact) => eventsOf(fact, block.header));
    },
  };
}
