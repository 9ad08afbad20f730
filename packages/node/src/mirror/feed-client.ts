/** Reads the feed of a node over HTTP, line by line. The node sends only as fast as the mirror reads. */

import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { Agent, request } from "undici";
import { type Position, positionText } from "../feed/position.ts";
import { REFUSAL_STEPS } from "../gateway/refusal-steps.ts";
import { shortened, withoutControls } from "../platform/text/foreign.ts";
import { MirrorError, type MirrorErrorCode } from "./error.ts";
import { type FeedLine, readLine } from "./line.ts";

export type FeedClient = {
  /** Yields the blocks after the first position that the node has on its chain, until the response ends. */
  follow(positions: readonly Position[], signal: AbortSignal): AsyncIterable<FeedLine>;
  /** Yields the blocks after a height up to another, without changes. */
  blocks(after: number, last: number, signal: AbortSignal): AsyncIterable<FeedLine>;
  /** Yields the records of the state after the last block. */
  state(signal: AbortSignal): AsyncIterable<FeedLine>;
  /** Returns the height of the node's last block; undefined before the genesis block. */
  height(signal: AbortSignal): Promise<number | undefined>;
  close(): Promise<void>;
};

export type FeedClientOptions = {
  /** Base URL of the node. */
  readonly url: string;
  readonly token: string;
};

/** Longer than several heartbeats of the node. */
const SILENCE_TIMEOUT_MS = 20_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Longest line: a block of 21 MB in base64, and the records that it wrote. */
const MAX_LINE_CHARACTERS = 256 * 1024 * 1024;
const LOOPBACK = /^(localhost|127\..*|\[::1\])$/;
const MAX_REASON_CHARACTERS = 300;

export function createFeedClient({ url, token }: FeedClientOptions): FeedClient {
  const agent = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: SILENCE_TIMEOUT_MS,
    bodyTimeout: SILENCE_TIMEOUT_MS,
  });
  // On loopback, compression costs more than it saves.
  const encoding = LOOPBACK.test(new URL(url).hostname) ? "identity" : "gzip";
  const base = `${url.replace(/\/$/, "")}/api/internal/feed`;

  async function* get(path: string, signal: AbortSignal): AsyncIterable<FeedLine> {
    const response = await request(base + path, {
      dispatcher: agent,
      signal,
      headers: { authorization: token, "accept-encoding": encoding },
    }).catch((cause) => {
      throw unreachable(url, cause);
    });
    if (response.statusCode !== 200) throw refusal(url, response.statusCode, await response.body.text());
    const isCompressed = response.headers["content-encoding"] === "gzip";
    // `pipeline` destroys both streams when one fails; the loop below receives the error.
    const text = isCompressed ? pipeline(response.body, createGunzip(), () => {}) : response.body;
    try {
      for await (const line of linesOf(text as AsyncIterable<Buffer>)) yield readLine(line);
    } catch (cause) {
      throw cause instanceof MirrorError ? cause : unreachable(url, cause);
    }
  }

  return {
    follow: (positions, signal) =>
      get(`?${positions.map((position) => `after=${positionText(position)}`).join("&")}`, signal),
    blocks: (after, last, signal) => get(`/blocks?after=${after}&last=${last}`, signal),
    state: (signal) => get("/state", signal),
    async height(signal) {
      // The first line names the last block; the rest of the response is not read.
      for await (const line of get("/state", signal)) return "state" in line ? line.state.height : undefined;
      return undefined;
    },
    close: () => agent.destroy(),
  };
}

/** Splits bytes into lines. Omits empty lines, and an incomplete last line. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  // Joined at the end of a line, so that a line of many chunks is copied only once.
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const texts = decoder.decode(chunk, { stream: true }).split("\n");
    const rest = texts.pop() ?? "";
    for (const text of texts) {
      const line = parts.join("") + text;
      parts = [];
      length = 0;
      if (line !== "") yield line;
    }
    parts.push(rest);
    length += rest.length;
    if (length > MAX_LINE_CHARACTERS) {
      throw new MirrorError("MIRROR_FEED_INVALID", "a line of the feed is too long");
    }
  }
}

const unreachable = (url: string, cause: unknown): MirrorError =>
  new MirrorError("MIRROR_NODE_UNREACHABLE", `cannot read from ${url}: ${(cause as Error).message}`, {
    cause,
  });

const CODES: Readonly<Record<number, MirrorErrorCode>> = {
  401: "MIRROR_REFUSED",
  403: "MIRROR_REFUSED",
  404: "MIRROR_REFUSED",
  409: "MIRROR_GONE",
};

const NEXT_STEPS: Readonly<Record<number, string>> = {
  ...REFUSAL_STEPS,
  409: "the mirror will be built again",
};

function refusal(url: string, status: number, body: string): MirrorError {
  const reason = shortened(withoutControls(body), MAX_REASON_CHARACTERS);
  const next = NEXT_STEPS[status];
  return new MirrorError(
    CODES[status] ?? "MIRROR_NODE_UNREACHABLE",
    `${url} responded ${status}: ${reason}${next === undefined ? "" : `; ${next}`}`,
  );
}
