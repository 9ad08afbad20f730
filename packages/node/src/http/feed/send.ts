/** Sends responses of the feed. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { FeedError, type FeedResponse } from "../../feed/feed.ts";
import { HttpError } from "../core/error.ts";

const RETRY_AFTER_SECONDS = 60;

/** Sends a response in parts, each after the client has read the previous one. */
export async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  open: () => FeedResponse,
): Promise<void> {
  const response = opened(open, reply);
  const isCompressed = /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
  reply.hijack();
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    ...(isCompressed && { "content-encoding": "gzip" }),
  });
  reply.raw.flushHeaders();
  // The text notices the end of the connection only with its next part.
  reply.raw.once("close", response.release);
  const text = Readable.from(response.text);
  // Flushed after each part: a mirror must not wait until the buffer of the compressor is full.
  const gzip = isCompressed ? [createGzip({ flush: constants.Z_SYNC_FLUSH, level: 1 })] : [];
  // A client that disconnects is not an error.
  await pipeline([text, ...gzip, reply.raw]).catch(() => reply.raw.destroy());
  response.release();
}

function opened(open: () => FeedResponse, reply: FastifyReply): FeedResponse {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof FeedError)) throw error;
    if (error.isRetryable) reply.header("retry-after", RETRY_AFTER_SECONDS);
    throw new HttpError(error.code, error.message);
  }
}
