/** Source of a stream's events in SQLite. Its reads have settled when they return. */
import type { Network } from "@uniknode/protocol";
import type { PastEvents } from "../../event-log/history.ts";
import { createPastEvents } from "../../event-log/sqlite/history.ts";
import { type BlockStore, createBlockStore } from "../../store/chain/blocks.ts";
import type { Database } from "../../store/engine/database.ts";
import { createReadTogether, type ReadTogether } from "../../store/engine/snapshot.ts";
import { createEventLog, type EventLog } from "../../store/events/event-log.ts";
import type { BlockRef } from "../frame.ts";
import { type BlockPage, createSourceEvents, type LogEnd, type LogPage, type Source } from "../source.ts";

/** Events of one page: other requests run between two pages, and a slow client keeps at most one in memory. */
const PAGE = 25;
/** Names to log: none, because this source only reads. */
const NO_NAMES: ReadonlySet<string> = new Set();

type State = {
  readonly eventLog: Pick<EventLog, "read" | "firstSequence" | "lastSequence">;
  readonly history: PastEvents;
  readonly blocks: Pick<BlockStore, "head" | "header">;
  readonly readTogether: ReadTogether;
  readonly toSourceEvent: ReturnType<typeof createSourceEvents>;
  /** Cached page: all clients at the end of the log read the same one. */
  known: { readonly after: number; readonly page: LogPage | undefined } | undefined;
};

/** @param database a connection that only this source reads through */
export function createSqliteSource(database: Database, network: Network): Source {
  const state: State = {
    eventLog: createEventLog(database, { recordedNames: () => NO_NAMES }),
    history: createPastEvents(database, network),
    blocks: createBlockStore(database),
    readTogether: createReadTogether(database),
    toSourceEvent: createSourceEvents(),
    known: undefined,
  };
  const { readTogether } = state;
  return {
    end: async () => readTogether(() => end(state)),
    begin: async () => begin(state),
    hasBlock: async ({ height, blockId }) => state.blocks.header(height)?.id === blockId,
    async log(after) {
      if (state.known?.after !== after)
        state.known = { after, page: readTogether(() => readLog(state, after)) };
      return state.known.page;
    },
    chain: async (height) => readTogether(() => readBlock(state, height)),
    refresh() {
      state.known = undefined;
    },
  };
}

function end({ eventLog, blocks }: State): LogEnd {
  const block = headBlock(blocks);
  return { sequence: eventLog.lastSequence(), ...(block && { block }) };
}

const begin = ({ eventLog }: State): number => (eventLog.firstSequence() ?? eventLog.lastSequence() + 1) - 1;

function readLog(state: State, after: number): LogPage | undefined {
  const { eventLog, blocks, toSourceEvent } = state;
  if (after < begin(state)) return undefined;
  const block = headBlock(blocks);
  const events = eventLog.read(after, PAGE);
  return {
    events: events.map(toSourceEvent),
    sequence: events.at(-1)?.sequence ?? after,
    isEnd: events.length < PAGE,
    ...(block && { block }),
  };
}

function readBlock({ blocks, history, toSourceEvent }: State, height: number): BlockPage | undefined {
  const header = blocks.header(height);
  if (!header) return undefined;
  const events = history.eventsAt(height).map(toSourceEvent);
  return { events, block: { height, blockId: header.id } };
}

function headBlock(blocks: State["blocks"]): BlockRef | undefined {
  const head = blocks.head();
  return head && { height: head.height, blockId: head.id };
}
