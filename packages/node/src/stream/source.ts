/** Source of a stream's events: the event log, or the stored blocks for clients that reconnect too late for the log. */
import type { Network } from "@uniknode/protocol";
import { createHistory } from "../event-log/history.ts";
import type { Event, LoggedEvent } from "../events/event.ts";
import { createBlockStore } from "../store/chain/blocks.ts";
import type { Database } from "../store/engine/database.ts";
import { createReadTogether } from "../store/engine/snapshot.ts";
import { createEventLog } from "../store/events/event-log.ts";
import { createFit } from "../subscriptions/content.ts";
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
/** Maximum size of a content, as in deliveries of webhooks. */
const MAX_CONTENT_BYTES = 256 * 1_024;
/** Names to log: none, because this source only reads. */
const NO_NAMES: ReadonlySet<string> = new Set();

/** @param database a connection that only this source reads through */
export function createSource(database: Database, network: Network): Source {
  const fit = createFit(MAX_CONTENT_BYTES);
  const eventLog = createEventLog(database, { recordedNames: () => NO_NAMES });
  const history = createHistory(database, network);
  const readTogether = createReadTogether(database);
  const blocks = createBlockStore(database);
  /** Cached page: all clients at the end of the log read the same one. */
  let known: { readonly after: number; readonly page: LogPage | undefined } | undefined;

  const begin = () => (eventLog.firstSequence() ?? eventLog.lastSequence() + 1) - 1;

  function headBlock(): BlockRef | undefined {
    const head = blocks.head();
    return head && { height: head.height, blockId: head.id };
  }

  function read(after: number): LogPage | undefined {
    return readTogether(() => {
      if (after < begin()) return undefined;
      const block = headBlock();
      const events = eventLog.read(after, PAGE);
      return {
        events: events.map(toSourceEvent),
        sequence: events.at(-1)?.sequence ?? after,
        isEnd: events.length < PAGE,
        ...(block && { block }),
      };
    });
  }

  function toSourceEvent<E extends Event | LoggedEvent>(event: E): SourceEvent & { readonly event: E } {
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

  return {
    end: () =>
      readTogether(() => {
        const block = headBlock();
        return { sequence: eventLog.lastSequence(), ...(block && { block }) };
      }),
    begin,
    hasBlock: ({ height, blockId }) => blocks.header(height)?.id === blockId,
    log(after) {
      if (known?.after !== after) known = { after, page: read(after) };
      return known.page;
    },
    chain: (height) =>
      readTogether(() => {
        const header = blocks.header(height);
        if (!header) return undefined;
        return { events: history.eventsAt(height).map(toSourceEvent), block: { height, blockId: header.id } };
      }),
    refresh() {
      known = undefined;
    },
  };
}
