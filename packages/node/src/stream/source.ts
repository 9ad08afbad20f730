/** Source of a stream's events: the event log, or the stored blocks for clients that reconnect too late for the log. */
import type { Network } from "@uniknode/protocol";
import { createHistory, type History } from "../event-log/history.ts";
import type { Event, LoggedEvent } from "../events/event.ts";
import { type BlockStore, createBlockStore } from "../store/chain/blocks.ts";
import type { Database } from "../store/engine/database.ts";
import { createReadTogether, type ReadTogether } from "../store/engine/snapshot.ts";
import { createEventLog, type EventLog } from "../store/events/event-log.ts";
import { createFit, type Fit, MAX_CONTENT_BYTES } from "../subscriptions/content.ts";
import { eventFrame } from "./frame.ts";
import type { BlockRef, Position } from "./position.ts";

/** An event and its text, which is built once for all clients that receive it by the same name. */
export type SourceEvent = { readonly event: Event; frame(name: string): string };

export type LogPage = {
  readonly events: readonly (SourceEvent & { readonly event: LoggedEvent })[];
  /** Sequence of the last event of the page, or the start of the page if it is empty. */
  readonly sequence: number;
  /** True if this page reaches the end of the log. */
  readonly isEnd: boolean;
  /** The head when the page was read. */
  readonly block?: BlockRef;
};

export type Source = {
  /** Returns the end of the log, and the head of the same snapshot. */
  end(): Position & { readonly sequence: number };
  /** Returns the sequence after which the log has every event that was ever written. */
  begin(): number;
  hasBlock(block: BlockRef): boolean;
  /** Returns the events after a sequence; undefined if some of these events were dropped. */
  log(after: number): LogPage | undefined;
  /** Returns the events of a block; undefined above the head. */
  chain(height: number): { readonly events: readonly SourceEvent[]; readonly block: BlockRef } | undefined;
  /** Must be called after events were recorded. */
  refresh(): void;
};

/** Events of one page: other requests run between two pages, and a slow client keeps at most one in memory. */
const PAGE = 25;
/** Names to log: none, because this source only reads. */
const NO_NAMES: ReadonlySet<string> = new Set();

type State = {
  readonly eventLog: Pick<EventLog, "read" | "firstSequence" | "lastSequence">;
  readonly history: History;
  readonly blocks: Pick<BlockStore, "head" | "header">;
  readonly readTogether: ReadTogether;
  readonly fit: Fit;
  /** Cached page: all clients at the end of the log read the same one. */
  known: { readonly after: number; readonly page: LogPage | undefined } | undefined;
};

/** @param database a connection that only this source reads through */
export function createSource(database: Database, network: Network): Source {
  const state: State = {
    eventLog: createEventLog(database, { recordedNames: () => NO_NAMES }),
    history: createHistory(database, network),
    blocks: createBlockStore(database),
    readTogether: createReadTogether(database),
    fit: createFit(MAX_CONTENT_BYTES),
    known: undefined,
  };
  const { readTogether } = state;
  return {
    end: () => readTogether(() => end(state)),
    begin: () => begin(state),
    hasBlock: ({ height, blockId }) => state.blocks.header(height)?.id === blockId,
    log(after) {
      if (state.known?.after !== after)
        state.known = { after, page: readTogether(() => readLog(state, after)) };
      return state.known.page;
    },
    chain: (height) => readTogether(() => readBlock(state, height)),
    refresh() {
      state.known = undefined;
    },
  };
}

function end({ eventLog, blocks }: State): ReturnType<Source["end"]> {
  const block = headBlock(blocks);
  return { sequence: eventLog.lastSequence(), ...(block && { block }) };
}

const begin = ({ eventLog }: State): number => (eventLog.firstSequence() ?? eventLog.lastSequence() + 1) - 1;

function readLog(state: State, after: number): LogPage | undefined {
  const { eventLog, blocks, fit } = state;
  if (after < begin(state)) return undefined;
  const block = headBlock(blocks);
  const events = eventLog.read(after, PAGE);
  return {
    events: events.map((event) => toSourceEvent(event, fit)),
    sequence: events.at(-1)?.sequence ?? after,
    isEnd: events.length < PAGE,
    ...(block && { block }),
  };
}

function readBlock({ blocks, history, fit }: State, height: number): ReturnType<Source["chain"]> {
  const header = blocks.header(height);
  if (!header) return undefined;
  const events = history.eventsAt(height).map((event) => toSourceEvent(event, fit));
  return { events, block: { height, blockId: header.id } };
}

function headBlock(blocks: State["blocks"]): BlockRef | undefined {
  const head = blocks.head();
  return head && { height: head.height, blockId: head.id };
}

function toSourceEvent<E extends Event>(event: E, fit: Fit): SourceEvent & { readonly event: E } {
  const frames = new Map<string, string>();
  return {
    event,
    frame(name) {
      const text = frames.get(name) ?? eventFrame(event, name, fit);
      frames.set(name, text);
      return text;
    },
  };
}
