/** Past events, derived from the blocks and the state in SQLite. */
import type { Network } from "@uniknode/protocol";
import { BlockStore } from "../../store/chain/blocks.ts";
import { createFactLookups } from "../../store/chain/fact-lookups.ts";
import type { Database, ReadTogether } from "../../store/engine/database.ts";
import { createFinality } from "../finality.ts";
import type { History, PastEvents } from "../history.ts";
import { createFactEvents, createPastFacts } from "../past-facts.ts";

/** Returns the port; each read of it is a transaction. */
export const toHistory = (pastEvents: PastEvents, readTogether: ReadTogether): History => ({
  head: async () => pastEvents.head(),
  eventsAt: async (height) => readTogether(() => pastEvents.eventsAt(height)),
});

/** `eventsAt` must be called inside a transaction, so that all events belong to one block. */
export function createPastEvents(database: Database, network: Network): PastEvents {
  const blocks = new BlockStore(database);
  const usernames = database.prepare<{ username: string | null }>(
    "SELECT username FROM wallets WHERE public_key = +?",
  );
  const pastFacts = createPastFacts(createFactLookups(database), network);
  const finality = createFinality(network, (height) => blocks.header(height));
  const toEvents = createFactEvents(network, (publicKey) => usernames.get(publicKey)?.username ?? undefined);

  return {
    head: () => blocks.head()?.height ?? 0,
    eventsAt(height) {
      const block = blocks.block(height);
      if (!block) return [];
      // Other calls may have seen another chain.
      pastFacts.forget();
      const facts = [...pastFacts.of(block), ...finality.follow(block.header)];
      return facts.flatMap((fact) => toEvents(fact, block.header));
    },
  };
}
