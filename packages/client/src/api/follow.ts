/** Server-sent events, over connections that are opened again when they break (docs/guides/live-stream.md). */
import { ApiError } from "./error.ts";
import { bodyOf, refusalOf } from "./refusal.ts";
import { type ApiRequest, type Connect, nameOf } from "./request.ts";
import type { Sleep } from "./sleep.ts";

/** One event as it was sent; after `id` the stream continues. */
export type Message = { readonly id: string; readonly data: string };

export type FollowDependencies = {
  readonly connect: Connect;
  readonly sleep: Sleep;
  readonly nowMs: () => number;
  /** Ends every stream of the client. */
  readonly signal?: AbortSignal | undefined;
};

export type FollowOptions = {
  /** The stream begins after the event of this id. */
  readonly lastEventId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** Name of the message that only advances the id. */
const POSITION = "stream.position";
/** A node sends its position every 15 s. */
const SILENCE_TIMEOUT_MS = 45_000;
/** Pause before another connection, unless the node sent another one. */
const PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 60_000;

/**
 * All messages, without end. Breaking out of the loop ends the connection.
 *
 * @throws the reason of the signal
 * @throws {ApiError} when a retry is useless: `API_UNAUTHORIZED`, or `API_REFUSED` with the status 410 when the node
 *   has no longer the events after the id
 */
export async function* follow(
  requestOf: (lastEventId: string | undefined) => ApiRequest,
  { lastEventId, signal: own }: FollowOptions,
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
        pauseMs = pauseOf(fields.get("retry")) ?? pauseMs;
        id = fields.get("id") ?? id;
        const data = fields.get("data");
        if (data !== undefined && fields.get("event") !== POSITION) yield { id: id ?? "", data };
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ApiError) || !error.isRetryable) throw error;
      waitMs = error.retryAfterMs;
    }
    await sleep(waitMs ?? pauseMs, signal);
  }

  /** The messages of one connection, by their fields. */
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
