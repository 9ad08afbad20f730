/** Past events, derived from the blocks and the state in SQLite. */
import type { Network } from "@uniknode/protocol";
import type { Event } from "../../events/catalogue.ts";
import { BlockStore } from "../../store/chain/blocks.ts";
import { createFactLookups } from "../../store/chain/fact-lookups.ts";
import type { Database, ReadTogether } from "../../store/engine/database.ts";
import { Finality } from "../finality.ts";
import { type History, HistoryError, type PastEvents } from "../history.ts";
import { createFactEvents, PastFacts } from "../past-facts.ts";

/** Returns the port; each read of it is a transaction. */
export const toHistory = (pastEvents: PastEvents, readTogether: ReadTogether): History => ({
  head: async () => readOrThrow("the head", () => pastEvents.head()),
  eventsAt: async (height) =>
    readOrThrow(`block ${height}`, () => readTogether(() => pastEvents.eventsAt(height))),
});

/** @throws {HistoryError} HISTORY_DAMAGED: a row that cannot be read must stop replays only */
function readOrThrow<Result>(what: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof HistoryError) throw error;
    throw new HistoryError("HISTORY_DAMAGED", `cannot read ${what}: ${(error as Error).message}`, error);
  }
}

export class SqlitePastEvents implements PastEvents {
  readonly #blocks: BlockStore;
  readonly #pastFacts: PastFacts;
  readonly #finality: Finality;
  readonly #toEvents: ReturnType<typeof createFactEvents>;
  /** The last block read: replays and streams read a large block in many steps. */
  #last: { readonly blockId: string; readonly events: readonly Event[] } | undefined;

  constructor(database: Database, network: Network) {
    const blocks = new BlockStore(database);
    const usernames = database.prepare<{ username: string | null }>(
      "SELECT username FROM wallets WHERE public_key = +?",
    );
    this.#blocks = blocks;
    this.#pastFacts = new PastFacts(createFactLookups(database), network);
    this.#finality = new Finality(network, (height) => blocks.header(height));
    this.#toEvents = createFactEvents(
      network,
      (publicKey) => usernames.get(publicKey)?.username ?? undefined,
    );
  }

  head(): number {
    return this.#blocks.head()?.height ?? 0;
  }

  /** Must be called inside a transaction, so that all events belong to one block. */
  eventsAt(height: number): readonly Event[] {
    const header = this.#blocks.header(height);
    if (header && header.id === this.#last?.blockId) return this.#last.events;
    const block = this.#blocks.block(height);
    if (!block) return [];
    // Other calls may have seen another chain.
    this.#pastFacts.forget();
    const facts = [...this.#pastFacts.of(block), ...this.#finality.follow(block.header)];
    const events = facts.flatMap((fact) => this.#toEvents(fact, block.header));
    this.#last = { blockId: block.header.id, events };
    return events;
  }
}
