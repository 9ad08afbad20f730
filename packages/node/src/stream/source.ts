/** What streams are made of: the event log, and the stored blocks for those who come back too late for the log. */
import type { Network } from "@uniknode/protocol";
import { createHistory } from "../event-log/history.ts";
import type { Event, LoggedEvent } from "../events/event.ts";
import { createBlockStore } from "../store/chain/blocks.ts";
import type { Database } from "../store/engine/database.ts";
import { createReadTogether } from "../store/engine/snapshot.ts";
import { createEventLog } from "../store/events/event-log.ts";
import { createFit } from "../subscriptions/content.ts";
import { eventFrame } from "./frame.ts";
import type { Place, Position } from "./position.ts";

/** An event with its text, which is made once for all readers who call it the same. */
export type Told = { readonly event: Event; frame(name: string): string };

export type LogPage = {
  readonly events: readonly (Told & { readonly event: LoggedEvent })[];
  /** Sequence of the last event of the page, or where it began. */
  readonly sequence: number;
  /** Whether nothing is behind it. */
  readonly isEnd: boolean;
  /** The head, as of then. */
  readonly place?: Place;
};

export type Source = {
  /** The end of the log, and the head as of then. */
  end(): Position & { readonly sequence: number };
  /** Sequence behind which the log has everything that was ever written. */
  begin(): number;
  hasBlock(place: Place): boolean;
  /** Events behind a sequence; undefined when some of them are dropped already. */
  log(after: number): LogPage | undefined;
  /** The events of a block; undefined above the head. */
  chain(height: number): { readonly events: readonly Told[]; readonly place: Place } | undefined;
  /** Events were logged. */
  wake(): void;
};

/** Events read at once: other requests come between two pages, and a slow reader holds no more than one. */
const PAGE = 25;
/** As in deliveries of webhooks. */
const MAX_CONTENT_BYTES = 256 * 1_024;
/** Nothing is written here. */
const NO_NAMES: ReadonlySet<string> = new Set();

/** @param database a connection that nobody else reads through */
export function createSource(database: Database, network: Network): Source {
  const fit = createFit(MAX_CONTENT_BYTES);
  const eventLog = createEventLog(database, { recordedNames: () => NO_NAMES });
  const history = createHistory(database, network);
  const readTogether = createReadTogether(database);
  const blocks = createBlockStore(database);
  /** Readers at the end of the log all ask for the same page. */
  let known: { readonly after: number; readonly page: LogPage | undefined } | undefined;

  const begin = () => (eventLog.firstSequence() ?? eventLog.lastSequence() + 1) - 1;

  function headPlace(): Place | undefined {
    const head = blocks.head();
    return head && { height: head.height, blockId: head.id };
  }

  function read(after: number): LogPage | undefined {
    return readTogether(() => {
      if (after < begin()) return undefined;
      const place = headPlace();
      const events = eventLog.read(after, PAGE);
      return {
        events: events.map(toldOf),
        sequence: events.at(-1)?.sequence ?? after,
        isEnd: events.length < PAGE,
        ...(place && { place }),
      };
    });
  }

  function toldOf<E extends Event | LoggedEvent>(event: E): Told & { readonly event: E } {
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
        const place = headPlace();
        return { sequence: eventLog.lastSequence(), ...(place && { place }) };
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
        return { events: history.eventsAt(height).map(toldOf), place: { height, blockId: header.id } };
      }),
    wake() {
      known = undefined;
    },
  };
}
