/**
 * Reads the feed of a node over HTTP, line by line. The node sends only as fast as the mirror reads, which reads ahead
 * while it processes earlier items: transactions become fewer and larger, and do not wait for the connection.
 */

import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { Agent, type Dispatcher, request } from "undici";
import type { EventPosition } from "../feed/event-reader.ts";
import { type Position, positionText } from "../feed/line.ts";
import { REFUSAL_STEPS, refusalReason } from "../gateway/caller.ts";
import { Notifier } from "../platform/notifier.ts";
import { type LineBound, linesOf } from "../platform/text/foreign.ts";
import { type EventLine, type FeedLine, readEventLine, readLine } from "./line.ts";
import { MirrorError, type MirrorErrorCode } from "./mirror-error.ts";

type FeedClientOptions = {
  /** Base URL of the node. */
  readonly url: string;
  readonly token: string;
};

/** A node sends several heartbeats in this time. */
const SILENCE_TIMEOUT_MS = 20_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Longest line: a block of 21 MB in base64, and the records that it wrote. */
const MAX_LINE_CHARACTERS = 256 * 1024 * 1024;
const LOOPBACK = /^(localhost|127\..*|\[::1\])$/;

export class FeedClient {
  readonly #options: FeedClientOptions;
  readonly #agent = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: SILENCE_TIMEOUT_MS,
    bodyTimeout: SILENCE_TIMEOUT_MS,
  });

  constructor(options: FeedClientOptions) {
    this.#options = options;
  }

  /** Yields the blocks after the first position that the node has on its chain, until the response ends. */
  follow(positions: readonly Position[], signal: AbortSignal): AsyncIterable<FeedLine> {
    const after = positions.map((position) => `after=${positionText(position)}`);
    return this.#get(`?${after.join("&")}`, signal, readLine);
  }

  /** Yields the blocks after a height up to another, without changes. */
  blocks(after: number, last: number, signal: AbortSignal): AsyncIterable<FeedLine> {
    return this.#get(`/blocks?after=${after}&last=${last}`, signal, readLine);
  }

  /** Yields the records of the state after the last block. */
  state(signal: AbortSignal): AsyncIterable<FeedLine> {
    return this.#get("/state", signal, readLine);
  }

  /** Returns the height of the node's last block; undefined before the genesis block. */
  async height(signal: AbortSignal): Promise<number | undefined> {
    // The first line names the last block; the rest of the response is not read.
    for await (const line of this.state(signal)) return "state" in line ? line.state.height : undefined;
    return undefined;
  }

  /**
   * Yields the events of the log after a position, as they are logged, until the response ends.
   *
   * @throws {MirrorError} MIRROR_EVENTS_GONE
   */
  events(position: EventPosition, signal: AbortSignal): AsyncIterable<EventLine> {
    return this.#get(`${EVENTS}?${queryOf(position)}`, signal, readEventLine);
  }

  /** Makes the node give later events higher sequences than this one. */
  async continueEvents(after: number, signal: AbortSignal): Promise<void> {
    const { body } = await this.#send(`${EVENTS}/continuation`, signal, { after });
    await body.dump();
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async *#get<T>(path: string, signal: AbortSignal, read: (line: string) => T): AsyncIterable<T> {
    const response = await this.#send(path, signal);
    const isCompressed = response.headers["content-encoding"] === "gzip";
    // `pipeline` destroys both streams when one fails; the loop below receives the error.
    const text = isCompressed ? pipeline(response.body, createGunzip(), () => {}) : response.body;
    try {
      for await (const line of linesOf(text as AsyncIterable<Buffer>, LINE_BOUND)) yield read(line);
    } catch (cause) {
      throw cause instanceof MirrorError ? cause : unreachable(this.#options.url, cause);
    }
  }

  async #send(path: string, signal: AbortSignal, body?: object): Promise<Dispatcher.ResponseData> {
    const { url, token } = this.#options;
    // On loopback, compression costs more than it saves.
    const encoding = LOOPBACK.test(new URL(url).hostname) ? "identity" : "gzip";
    const response = await request(`${url.replace(/\/$/, "")}/api/internal/feed${path}`, {
      dispatcher: this.#agent,
      signal,
      method: body ? "POST" : "GET",
      headers: {
        authorization: token,
        "accept-encoding": encoding,
        ...(body && { "content-type": "application/json" }),
      },
      body: body ? JSON.stringify(body) : null,
    }).catch((cause) => {
      throw unreachable(url, cause);
    });
    const { statusCode } = response;
    if (statusCode < 300) return response;
    const { codes, steps } = path.startsWith(EVENTS) ? OF_EVENTS : OF_BLOCKS;
    throw new MirrorError(
      codes[statusCode] ?? "MIRROR_NODE_UNREACHABLE",
      refusalReason(url, statusCode, await response.body.text(), steps),
    );
  }
}

const EVENTS = "/events";

function queryOf(position: EventPosition): URLSearchParams {
  if (typeof position === "string") return new URLSearchParams({ after: position });
  const { sequence, ...more } = position;
  return new URLSearchParams({ after: `${sequence}`, ...more });
}

const LINE_BOUND: LineBound = {
  maxCharacters: MAX_LINE_CHARACTERS,
  tooLong: () => new MirrorError("MIRROR_FEED_INVALID", "a line of the feed is too long"),
};

const unreachable = (url: string, cause: unknown): MirrorError =>
  new MirrorError("MIRROR_NODE_UNREACHABLE", `cannot read from ${url}: ${(cause as Error).message}`, {
    cause,
  });

/** Meaning of the statuses of refused requests, and next steps. */
type Refusals = {
  readonly codes: Readonly<Record<number, MirrorErrorCode>>;
  readonly steps: Readonly<Record<number, string>>;
};

const REFUSED = { 401: "MIRROR_REFUSED", 403: "MIRROR_REFUSED", 404: "MIRROR_REFUSED" } as const;
const OF_BLOCKS: Refusals = {
  codes: { ...REFUSED, 409: "MIRROR_GONE" },
  steps: { ...REFUSAL_STEPS, 409: "the mirror will be built again" },
};
const OF_EVENTS: Refusals = {
  codes: { ...REFUSED, 409: "MIRROR_EVENTS_GONE" },
  steps: { ...REFUSAL_STEPS, 404: "start a node of the same version" },
};

export type AheadOptions<T> = {
  /** Reading pauses while this number of items, or more than this size, is queued. */
  readonly maxItems: number;
  readonly maxSize: number;
  readonly sizeOf: (item: T) => number;
};

/**
 * Yields all items that arrived since the previous batch, at least one. Throws an error of the source after the items
 * before it.
 */
export async function* readAhead<T>(
  items: AsyncIterable<T>,
  { maxItems, maxSize, sizeOf }: AheadOptions<T>,
): AsyncIterable<T[]> {
  const source = items[Symbol.asyncIterator]();
  const [arrived, taken] = [new Notifier(), new Notifier()];
  let queue: T[] = [];
  let size = 0;
  let isAbandoned = false;

  async function read(): Promise<void> {
    for (;;) {
      const { value, done } = await source.next();
      if (done || isAbandoned) return;
      queue.push(value);
      size += sizeOf(value);
      arrived.notify();
      while (!isAbandoned && (queue.length >= maxItems || size > maxSize)) await taken.next();
    }
  }

  let end: { readonly error?: unknown } | undefined;
  read()
    .then(
      () => {
        end = {};
      },
      (error: unknown) => {
        end = { error };
      },
    )
    .finally(() => arrived.notify());
  try {
    for (;;) {
      while (queue.length === 0 && !end) await arrived.next();
      if (queue.length === 0) break;
      const batch = queue;
      queue = [];
      size = 0;
      taken.notify();
      yield batch;
    }
    if (end?.error !== undefined) throw end.error;
  } finally {
    isAbandoned = true;
    taken.notify();
    // It is not awaited, because the next item may never arrive. The end of the connection settles the promise, possibly with
    // an error.
    source.return?.().catch(() => {});
  }
}
