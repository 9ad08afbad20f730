/** `/events`: the live stream of events (docs/guides/live-stream.md). */
import { type FollowDependencies, follow } from "../follow.ts";
import type { Condition } from "./webhooks/register.ts";

export type StreamedEvent = {
  readonly event: string;
  /** Id of the fact: it never changes. */
  readonly id: string;
  /** Height of the block that the event is about. */
  readonly height?: number;
  readonly blockId?: string;
  /** Id of the event that this one retracts. */
  readonly reverts?: string;
  /** The content is too large to be sent: `data` has only the members that identify it. */
  readonly truncated?: true;
  /** Path of the complete content if it is truncated, below the base URL of the node; absent if there is none. */
  readonly link?: string;
  /** Content of the event, as docs/reference/events.md describes it. */
  readonly data?: unknown;
  /** Position after this event, for `lastEventId`. */
  readonly position: string;
};

export type StreamOptions = {
  /** Names, and patterns such as `transaction.*`. Default: all. */
  readonly events?: readonly string[];
  readonly conditions?: readonly Condition[];
  /** Number of conditions that must hold: any or all. Default: any. */
  readonly match?: "any" | "all";
  /** First block of the stream, for events that can be derived from stored blocks. Default: now. */
  readonly fromHeight?: number;
  /** Begins after the event of this `position`. */
  readonly lastEventId?: string;
  /** Ends the stream: the loop throws its reason. */
  readonly signal?: AbortSignal;
};

export const events = (headers: Readonly<Record<string, string>>, dependencies: FollowDependencies) => ({
  /**
   * All events, without end. A connection that breaks is opened again after the last event, so that none is missed;
   * breaking out of the loop ends the stream.
   *
   * The loop throws `ApiError`: `API_UNAUTHORIZED` without the webhook token, unless the stream of the node is public;
   * `API_REFUSED` with the status 410 when the node has no longer the events after `lastEventId`.
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
