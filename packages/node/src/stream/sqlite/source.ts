/** Source of a stream's events in SQLite. Its reads have settled when they return. */
import type { Network } from "@uniknode/protocol";
import type { PastEvents } from "../../event-log/history.ts";
import { SqlitePastEvents } from "../../event-log/sqlite/history.ts";
import { BlockStore } from "../../store/chain/blocks.ts";
import { createReadTogether, type Database, type ReadTogether } from "../../store/engine/database.ts";
import { EventLog } from "../../store/events/event-log.ts";
import { MetaStore } from "../../store/node/meta.ts";
import {
  type BlockPage,
  type BlockRef,
  createSourceEvents,
  type LogEnd,
  type LogPage,
  type Source,
} from "../source.ts";

/** Events of one page: other requests run between two pages, and a slow client keeps at most one in memory. */
const PAGE = 25;
/** Names to log: none, because this source only reads. */
const NO_NAMES: ReadonlySet<string> = new Set();

export class SqliteSource implements Source {
  readonly logId: string | undefined;
  readonly #eventLog: Pick<EventLog, "read" | "firstSequence" | "lastSequence">;
  readonly #history: PastEvents;
  readonly #blocks: Pick<BlockStore, "head" | "header">;
  readonly #readTogether: ReadTogether;
  readonly #toSourceEvent: ReturnType<typeof createSourceEvents>;
  /** Cached page: all clients at the end of the log read the same one. */
  #known: { readonly after: number; readonly page: LogPage | undefined } | undefined;

  /** @param database a connection that only this source reads through */
  constructor(database: Database, network: Network) {
    this.#eventLog = new EventLog(database, { recordedNames: () => NO_NAMES });
    this.#history = new SqlitePastEvents(database, network);
    this.#blocks = new BlockStore(database);
    this.#readTogether = createReadTogether(database);
    this.logId = new MetaStore(database).read("eventLog");
    this.#toSourceEvent = createSourceEvents(this.logId);
  }

  async end(): Promise<LogEnd> {
    return this.#readTogether(() => ({ sequence: this.#eventLog.lastSequence(), ...this.#head() }));
  }

  async begin(): Promise<number> {
    return this.#begin();
  }

  async hasBlock({ height, blockId }: BlockRef): Promise<boolean> {
    return this.#blocks.header(height)?.id === blockId;
  }

  async log(after: number): Promise<LogPage | undefined> {
    if (this.#known?.after !== after)
      this.#known = { after, page: this.#readTogether(() => this.#readLog(after)) };
    return this.#known.page;
  }

  async chain(height: number): Promise<BlockPage | undefined> {
    return this.#readTogether(() => {
      const header = this.#blocks.header(height);
      if (!header) return undefined;
      const events = this.#history.eventsAt(height).map(this.#toSourceEvent);
      return { events, block: { height, blockId: header.id } };
    });
  }

  refresh(): void {
    this.#known = undefined;
  }

  #begin(): number {
    return (this.#eventLog.firstSequence() ?? this.#eventLog.lastSequence() + 1) - 1;
  }

  #readLog(after: number): LogPage | undefined {
    if (after < this.#begin()) return undefined;
    const events = this.#eventLog.read(after, PAGE);
    return {
      events: events.map(this.#toSourceEvent),
      sequence: events.at(-1)?.sequence ?? after,
      isEnd: events.length < PAGE,
      ...this.#head(),
    };
  }

  /** Returns the head as a member; none if there is no block. */
  #head(): { block?: BlockRef } {
    const head = this.#blocks.head();
    return head ? { block: { height: head.height, blockId: head.id } } : {};
  }
}
