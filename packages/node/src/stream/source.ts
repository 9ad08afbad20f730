/** Source of a stream's events: the event log, or the stored blocks for clients that reconnect too late for the log. */
import type { Event, LoggedEvent } from "../events/event.ts";
import { createFit, MAX_CONTENT_BYTES } from "../subscriptions/content.ts";
import { type BlockRef, eventFrame, type Position } from "./frame.ts";

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

/** End of the log, and the head of the same state. */
export type LogEnd = Position & { readonly sequence: number };

export type BlockPage = { readonly events: readonly SourceEvent[]; readonly block: BlockRef };

/** Each read sees one state of the database, at least as new as that of the read before it. */
export type Source = {
  end(): Promise<LogEnd>;
  /** Returns the sequence after which the log has every event that was ever written. */
  begin(): Promise<number>;
  hasBlock(block: BlockRef): Promise<boolean>;
  /** Returns the events after a sequence; undefined if some of these events were dropped. */
  log(after: number): Promise<LogPage | undefined>;
  /** Returns the events of a block; undefined above the head. */
  chain(height: number): Promise<BlockPage | undefined>;
  /** Must be called after events were recorded. */
  refresh(): void;
};

/** Creates a function that adds the text to an event. */
export function createSourceEvents(): <E extends Event>(event: E) => SourceEvent & { readonly event: E } {
  const fit = createFit(MAX_CONTENT_BYTES);
  return (event) => {
    const frames = new Map<string, string>();
    return {
      event,
      frame(name) {
        const text = frames.get(name) ?? eventFrame(event, name, fit);
        frames.set(name, text);
        return text;
      },
    };
  };
}
