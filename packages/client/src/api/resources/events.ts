/** `/events`: the live stream of events (docs/guides/live-stream.md). */

import { ApiError, bodyOf, refusalOf } from "../error.ts";
import { type ApiRequest, type Connect, nameOf } from "../request.ts";
import type { Sleep } from "../sleep.ts";
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
  /** Called with the error of each connection that failed or broke, before the pause and the next one. */
  readonly onRetry?: (error: ApiError) => void;
  /** Ends the stream: the loop throws its reason. */
  readonly signal?: AbortSignal;
};

export const events = (headers: Readonly<Record<string, string>>, dependencies: FollowDependencies) => ({
  /**
   * Yields all events, without end. A connection that breaks is opened again after the last event, so that none is missed;
   * breaking out of the loop ends the stream.
   *
   * The loop throws `ApiError`: `API_UNAUTHORIZED` without the webhook token, unless the stream of the node is public;
   * `API_REFUSED` with the status 410 when the node has no longer the events after `lastEventId`.
   */
  async *stream(options: StreamOptions = {}): AsyncGenerator<StreamedEvent> {
    const { events, conditions, match, fromHeight, lastEventId, signal, onRetry } = options;
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
    for await (const { id, data } of follow(requestOf, { lastEventId, signal, onRetry }, dependencies)) {
      yield { ...(JSON.parse(data) as Omit<StreamedEvent, "position">), position: id };
    }
  },
});

/** One event as it was sent; after `id` the stream continues. */
type Message = { readonly id: string; readonly data: string };

type FollowDependencies = {
  readonly connect: Connect;
  readonly sleep: Sleep;
  readonly nowMs: () => number;
  /** Ends every stream of the client. */
  readonly signal?: AbortSignal | undefined;
};

type FollowOptions = {
  /** The stream begins after the event of this id. */
  readonly lastEventId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onRetry?: ((error: ApiError) => void) | undefined;
};

/** Name of the message that only advances the id. */
const POSITION = "stream.position";
/** A node sends its position every 15 s. */
const SILENCE_TIMEOUT_MS = 45_000;
/** Pause before another connection, unless the node sent another one. */
const PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 60_000;

/**
 * Yields all messages, without end. Breaking out of the loop ends the connection.
 *
 * @throws the reason of the signal
 * @throws {ApiError} when a retry is useless: `API_UNAUTHORIZED`, or `API_REFUSED` with the status 410 when the node
 *   has no longer the events after the id
 */
async function* follow(
  requestOf: (lastEventId: string | undefined) => ApiRequest,
  { lastEventId, signal: own, onRetry }: FollowOptions,
  { connect, sleep, nowMs, signal: common }: FollowDependencies,
): AsyncGenerator<Message> {
  const signal = AbortSignal.any([own, common].filter((signal) => signal !== undefined));
  let id = lastEventId;
  let pauseMs = PAUSE_MS;
  for (;;) {
    signal.throwIfAborted();
    let waitMs: number | undefined;
    try {
      for await (const fields of listen(requestOf(id))) {
        const data = fields.get("data");
        pauseMs = pauseOf(fields.get("retry")) ?? pauseMs;
        id = fields.get("id") ?? id;
        if (data !== undefined && fields.get("event") !== POSITION) yield { id: id ?? "", data };
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ApiError) || !error.isRetryable) throw error;
      waitMs = error.retryAfterMs;
      onRetry?.(error);
    }
    await sleep(waitMs ?? pauseMs, signal);
  }

  /** Yields the messages of one connection, by their fields. */
  async function* listen(request: ApiRequest): AsyncGenerator<ReadonlyMap<string, string>> {
    const ended = new AbortController();
    const cutOff = () => ended.abort(new Error(`no sign of life for ${SILENCE_TIMEOUT_MS / 1_000} s`));
    let silence = setTimeout(cutOff, SILENCE_TIMEOUT_MS);
    try {
      const response = await connect(request, AbortSignal.any([signal, ended.signal]));
      if (!response.ok || !response.body) {
        throw new ApiError(refusalOf(response, bodyOf(await response.text()), nowMs()), nameOf(request));
      }
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
        clearTimeout(silence);
        silence = setTimeout(cutOff, SILENCE_TIMEOUT_MS);
        const blocks = `${rest}${chunk.value}`.split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) yield fieldsOf(block);
      }
    } catch (cause) {
      if (cause instanceof ApiError) throw cause;
      throw new ApiError({ code: "API_UNREACHABLE", cause }, nameOf(request));
    } finally {
      clearTimeout(silence);
      ended.abort();
    }
  }
}

/** Ignores values that are not a number of milliseconds. */
const pauseOf = (retry = ""): number | undefined =>
  /^\d{1,9}$/.test(retry) ? Math.min(Number(retry), MAX_PAUSE_MS) : undefined;

/** Lines of names and values; the node writes the data of an event in one line. */
const fieldsOf = (block: string): ReadonlyMap<string, string> =>
  new Map(
    block.split("\n").map((line) => {
      const at = line.indexOf(":");
      return [line.slice(0, at), line.slice(at + 1).replace(/^ /, "")];
    }),
  );
