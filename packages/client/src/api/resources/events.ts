/** `/events`: what happens, as it happens (docs/guides/live-stream.md). */
import { type FollowDependencies, follow } from "../follow.ts";
import type { Condition } from "./webhooks.ts";

export type StreamedEvent = {
  readonly event: string;
  /** Of the fact: the same for ever. */
  readonly id: string;
  /** Of the block that the event is about. */
  readonly height?: number;
  readonly blockId?: string;
  /** Id of the event that this one retracts. */
  readonly reverts?: string;
  /** The content is too large to be sent: `data` says only what it is about. */
  readonly truncated?: true;
  /** Path below the base URL of the node where the whole of a truncated content stands, if it does. */
  readonly link?: string;
  /** What happened, as docs/reference/events.md describes it. */
  readonly data?: unknown;
  /** To go on behind this event another time: `lastEventId`. */
  readonly position: string;
};

export type StreamOptions = {
  /** Names, and patterns such as `transaction.*`. Default: all. */
  readonly events?: readonly string[];
  readonly conditions?: readonly Condition[];
  /** Whether any or all of the conditions must be true. Default: any. */
  readonly match?: "any" | "all";
  /** Begins with this block instead of now; for events that can be derived from stored blocks. */
  readonly fromHeight?: number;
  /** Begins behind the event of this `position`. */
  readonly lastEventId?: string;
  /** Ends the stream: the loop throws its reason. */
  readonly signal?: AbortSignal;
};

export const events = (headers: Readonly<Record<string, string>>, dependencies: FollowDependencies) => ({
  /**
   * Every event, for ever. Connections that break are made again behind the last event, so that nothing is missed;
   * breaking out of the loop ends it.
   *
   * The loop throws `ApiError`: `API_UNAUTHORIZED` without the webhook token, unless the stream of the node is public;
   * `API_REFUSED` with the status 410 when the node cannot go on behind `lastEventId` any more.
   */
  async *stream(options: StreamOptions = {}): AsyncGenerator<StreamedEvent> {
    const { events, conditions, match, fromHeight, lastEventId, signal } = options;
    const requestOf = (lastEventId: string | undefined) => ({
      path: "/events",
      query: {
        events: events?.join(","),
        conditions: conditions && JSON.stringify(conditions),
        match,
        ...(lastEventId === undefined ? { fromHeight } : { lastEventId }),
      },
      headers,
    });
    for await (const { id, data } of follow(requestOf, { lastEventId, signal }, dependencies)) {
      yield { ...(JSON.parse(data) as Omit<StreamedEvent, "position">), position: id };
    }
  },
});
