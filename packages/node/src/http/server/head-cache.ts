/**
 * Answers that depend on the head of the chain only (http-api.md 1.7). Each has a strong ETag, by which a client that
 * has it already is spared the body; those that are asked for more than once are kept until the next block.
 */
import { hash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import type { Server } from "./app.ts";

/** Of all answers together, with the URLs that they are kept by. */
const MAX_BYTES = 32_000_000;
const MAX_ANSWER_BYTES = 4_000_000;
/** URLs remembered that were asked for once: 10 MB of them at most. What longer ones lead to is never kept. */
const MAX_ASKED = 20_000;
const MAX_URL_LENGTH = 500;
/** Shorter ones stay texts, which leave in one write with their headers; longer ones are turned into bytes only once. */
const MIN_BYTES_LENGTH = 10_000;

/** An answer that depends on the head of the chain only, kept or not. */
export type HeadAnswer = {
  readonly body: string | Buffer;
  readonly tag: string;
  /** The body as it is sent compressed, by encoding. */
  readonly encoded: Map<string, Promise<Buffer>>;
};

/** What was read last, with the id of the block whose state it was read from. */
export type LastRead = { result: unknown; headId: string | null };

declare module "fastify" {
  interface FastifyRequest {
    /** Id of the block that the answer depends on, if it depends on nothing else. */
    headId: string | null;
    /** The answer, once it is known to depend on that block only. */
    headAnswer: HeadAnswer | null;
  }
}

export type HeadCacheDeps = {
  /** A handler that returns it at once says that its answer depends on nothing else. */
  readonly lastRead: LastRead;
  /** Id of the head that reads see at this moment. */
  readonly headId: () => string | undefined;
  /** Unix time in milliseconds. */
  readonly nowMs: () => number;
};

export function addHeadCache(app: Server, { lastRead, headId, nowMs }: HeadCacheDeps): void {
  const answers = new LRUCache<string, HeadAnswer>({
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_ANSWER_BYTES,
    sizeCalculation: ({ body }, url) => Buffer.byteLength(body) + url.length,
  });
  // Most URLs are asked for once in the time of a block: to keep their answers takes longer than to make them again.
  const asked = new Set<string>();
  let current: string | undefined;
  let sinceText = "";

  /** The answers of the head as it is now. */
  function answersNow(): typeof answers {
    const id = headId();
    if (id === current) return answers;
    answers.clear();
    asked.clear();
    current = id;
    sinceText = new Date(nowMs()).toUTCString();
    return answers;
  }

  function isAskedAgain(url: string): boolean {
    if (url.length > MAX_URL_LENGTH) return false;
    if (asked.has(url)) return true;
    if (asked.size >= MAX_ASKED) asked.clear();
    asked.add(url);
    return false;
  }

  /** Undefined for what depends on anything else. */
  function headAnswerOf(
    request: FastifyRequest,
    { statusCode }: FastifyReply,
    payload: unknown,
  ): HeadAnswer | undefined {
    if (request.headId === null || typeof payload !== "string" || statusCode !== 200) return undefined;
    if (!isReading(request)) return undefined;
    // A block may have come while the answer was made.
    answersNow();
    const isKept = current === request.headId && isAskedAgain(request.url);
    const answer = {
      body: isKept && payload.length >= MIN_BYTES_LENGTH ? Buffer.from(payload) : payload,
      tag: hash("sha1", payload, "base64url"),
      encoded: new Map(),
    };
    if (isKept) answers.set(request.url, answer);
    return answer;
  }

  app.decorateRequest("headId", null);
  app.decorateRequest("headAnswer", null);

  // Whoever may not ask, or asks too often, was told so before; nothing else is looked at twice.
  app.addHook("onRequest", (request, reply, done) => {
    const kept = isReading(request) ? answersNow().get(request.url) : undefined;
    if (!kept) return done();
    request.headAnswer = kept;
    reply.type("application/json; charset=utf-8").send(kept.body);
  });

  app.addHook("preSerialization", (request, _reply, payload, done) => {
    if (payload === lastRead.result) request.headId = lastRead.headId;
    done(null, payload);
  });

  app.addHook("onSend", (request, reply, payload, done) => {
    const answer = request.headAnswer ?? headAnswerOf(request, reply, payload);
    if (!answer) return done(null, payload);
    request.headAnswer = answer;
    reply.header("etag", `"${answer.tag}"`);
    reply.header("last-modified", sinceText);
    if (!isKnown(request.headers["if-none-match"], answer.tag)) return done(null, answer.body);
    reply.code(304).removeHeader("content-type").removeHeader("content-length");
    // What answers HEAD measures the body, and leaves it out.
    done(null, request.method === "HEAD" ? answer.body : null);
  });
}

const isReading = ({ method }: FastifyRequest): boolean => method === "GET" || method === "HEAD";

/** The tag of an answer that travels compressed: other bytes, another tag. */
export const encodedTag = (tag: string, encoding: string): string => `"${tag}.${encoding}"`;

/** Whether the client has the answer, in whatever encoding. */
const isKnown = (header: string | undefined, tag: string): boolean =>
  header?.split(",").some((entry) => {
    const [, known] = /^(?:W\/)?"([^".]*)/.exec(entry.trim()) ?? [];
    return known === tag || entry.trim() === "*";
  }) ?? false;
