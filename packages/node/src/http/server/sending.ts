/** Last steps of responses: compression, and batches that are sent together. */
import { promisify } from "node:util";
import { deflate, gzip } from "node:zlib";
import type { Server } from "../core/app.ts";
import { encodedTag, type HeadResponse } from "../core/head-cache.ts";
import { addVary, encodingFor } from "../core/headers.ts";

/** Minimum size: compression does not reduce smaller responses enough. */
const MIN_BYTES = 1024;

/** Encoders in order of preference. */
const ENCODERS = { gzip: promisify(gzip), deflate: promisify(deflate) } as const;
type Encoding = keyof typeof ENCODERS;
const ENCODINGS = Object.keys(ENCODERS) as Encoding[];

/** Compresses large responses for clients that accept it (http-api.md 1.5). */
export function addCompression(app: Server): void {
  app.addHook("onSend", (request, reply, payload, done) => {
    if (typeof payload !== "string" && !Buffer.isBuffer(payload)) return done(null, payload);
    // A handler that tags its body has chosen the encoding.
    if (reply.hasHeader("etag") && !request.headResponse) return done(null, payload);
    const isLarge = Buffer.byteLength(payload) >= MIN_BYTES;
    if (isLarge) addVary(reply, "accept-encoding");
    const encoding = isLarge ? encodingFor(request.headers["accept-encoding"], ENCODINGS) : undefined;
    if (encoding !== undefined && request.headResponse) {
      reply.header("etag", encodedTag(request.headResponse.tag, encoding));
    }
    // The HEAD handler measures the body and omits it.
    if (reply.statusCode === 304 && request.method !== "HEAD") return done(null, null);
    if (encoding === undefined) {
      // A header of the old node (http-api.md 1.5); a server may respond to a range request with the whole body.
      reply.header("accept-ranges", "bytes");
      return done(null, payload);
    }
    reply.header("content-encoding", encoding);
    encode(payload, encoding, request.headResponse).then((bytes) => done(null, bytes), done);
  });
}

/** Compresses a body; a cached response is compressed only once. */
function encode(body: string | Buffer, encoding: Encoding, response: HeadResponse | null): Promise<Buffer> {
  const known = response?.encoded.get(encoding);
  if (known) return known;
  const bytes = ENCODERS[encoding](body);
  response?.encoded.set(encoding, bytes);
  return bytes;
}

/**
 * Sends the responses of one tick of the event loop together at its end: a waiting client process is scheduled once for all
 * responses, and scheduling it takes longer than building a response (docs/decisions/0019-share-reads-and-writes-per-tick.md).
 * Node.js accepts one connection per tick: while connections arrive, responses wait, so that those of one client do not delay the
 * connections of all others. Add it after all other hooks that read or change responses.
 *
 * @param maxWaitMs maximum time that a response waits for others; a response that is being built meanwhile may exceed it
 */
export function addBatches(app: Server, maxWaitMs: number): void {
  let leaving: (() => void)[] = [];
  let firstMs = 0;
  let hasAccepted = false;
  app.server.on("connection", () => {
    hasAccepted = true;
  });

  function endTick(): void {
    const mayWait = hasAccepted && performance.now() - firstMs <= maxWaitMs;
    hasAccepted = false;
    if (mayWait) setImmediate(endTick);
    else leave();
  }

  function leave(): void {
    const batch = leaving;
    leaving = [];
    for (const send of batch) send();
  }

  app.addHook("onSend", (_request, reply, payload, done) => {
    const nowMs = performance.now();
    if (leaving.length === 0) {
      firstMs = nowMs;
      setImmediate(endTick);
    }
    leaving.push(() => {
      // The deadline may have sent a response in the same tick: the framework throws at a second one.
      if (!reply.raw.headersSent) done(null, payload);
    });
    if (nowMs - firstMs > maxWaitMs) leave();
  });
}
