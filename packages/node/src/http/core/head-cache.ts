/**
 * Caches responses that depend only on the head of the chain (http-api.md 1.7). Each has a strong ETag, so that a client that
 * has the body gets 304; responses that are requested more than once are cached until the next block.
 */
import { hash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import { programVersion } from "../../platform/lifecycle/program.ts";
import type { Head, ReadModel } from "../../read/port.ts";
import type { Server } from "./app.ts";

/** Maximum size of all cached responses and their URLs. */
const MAX_BYTES = 32_000_000;
const MAX_RESPONSE_BYTES = 4_000_000;
/** Maximum number of stored URLs that were requested once, at most 10 MB. Responses to longer URLs are never cached. */
const MAX_REQUESTED = 20_000;
const MAX_URL_LENGTH = 500;
/**
 * Shorter bodies stay texts, which are written together with their headers. Longer bodies are converted to bytes once,
 * for the tag and for the socket.
 */
const MIN_BYTES_LENGTH = 10_000;

/** A response that depends only on the head of the chain, cached or not. */
export type HeadResponse = {
  readonly body: string | Buffer;
  readonly tag: string;
  /** Compressed bodies by encoding. */
  readonly encoded: Map<string, Promise<Buffer>>;
};

/**
 * Configuration of a route whose responses depend only on the request and the head; responses to POST are not cached.
 */
export const HEAD_ONLY = { dependsOn: "head" } as const;

/** Option of routes whose responses contain the head or a number of confirmations, so that each block changes them. */
export const EACH_BLOCK = { dependsOn: "head", changesWith: "each block" } as const;

declare module "fastify" {
  interface FastifyRequest {
    /** The block whose state the response was read from; null before the first read. */
    head: Head | null;
    /** The response, once it is known to depend only on that block. */
    headResponse: HeadResponse | null;
  }
  interface FastifyContextConfig {
    /** Dependency of the responses in addition to the request; absent: more than the head. */
    dependsOn?: "head";
    /** Absent: some blocks do not change the responses. */
    changesWith?: "each block";
  }
}

/** @param nowMs Unix time in milliseconds */
export function addHeadCache(
  app: Server,
  { readModel, nowMs }: { readonly readModel: Pick<ReadModel, "head">; readonly nowMs: () => number },
): void {
  const cache = new HeadCache(nowMs);
  app.decorateRequest("head", null);
  app.decorateRequest("headResponse", null);

  // Earlier hooks have refused clients without access or above their rate; other checks ran for the first request.
  app.addHook("onRequest", (request, reply, done) => {
    if (!isReading(request)) return done();
    function respond(head: Head | undefined): void {
      const kept = cache.find(head, request);
      request.headResponse = kept ?? null;
      if (kept && head) request.head = head;
      if (kept) reply.type("application/json; charset=utf-8").send(kept.body);
      else done();
    }
    const head = readModel.head();
    if (head instanceof Promise) head.then(respond, done);
    else respond(head);
  });

  app.addHook("onSend", (request, reply, payload, done) => {
    const response = request.headResponse ?? cache.add(request, reply, payload);
    if (!response) return done(null, payload);
    request.headResponse = response;
    reply.header("etag", `"${response.tag}"`);
    reply.header("last-modified", cache.sinceText);
    if (cache.isKnown(request.headers, response.tag)) {
      reply.code(304).removeHeader("content-type").removeHeader("content-length");
    }
    // The body of a 304 determines the headers of its encoding; it is omitted afterwards.
    done(null, response.body);
  });
}

/** Responses at one head. */
class HeadCache {
  readonly #nowMs: () => number;
  readonly #responses = new LRUCache<string, HeadResponse>({
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_RESPONSE_BYTES,
    sizeCalculation: ({ body }, url) => Buffer.byteLength(body) + url.length,
  });
  /** Most URLs are requested once between two blocks: caching their responses costs more than building them again. */
  readonly #requested = new LRUCache<string, true>({ max: MAX_REQUESTED });
  /** Id of the block whose responses are cached. */
  #headId: string | undefined;
  /** Another block became the head in the same second: then the time says nothing. */
  #isSinceShared = false;
  /** Time at which the block became the head here, as `last-modified`. */
  sinceText = "";

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Returns the response at this head; undefined if a read must determine whether the client accepts the block. */
  find(head: Head | undefined, { atLeast, url }: FastifyRequest): HeadResponse | undefined {
    this.#follow(head?.id);
    return atLeast === null || atLeast.id === head?.id ? this.#responses.get(url) : undefined;
  }

  /** Returns the cacheable response; undefined if the response depends on more than the head. */
  add(request: FastifyRequest, { statusCode }: FastifyReply, payload: unknown): HeadResponse | undefined {
    const { head, url } = request;
    if (head === null || typeof payload !== "string" || statusCode !== 200) return undefined;
    const { dependsOn, changesWith } = request.routeOptions.config;
    if (!isReading(request) || dependsOn !== "head") return undefined;
    // A block may have been committed between the request and its reads.
    this.#follow(head.id);
    const isKept = this.#isRequestedAgain(url);
    const body = payload.length >= MIN_BYTES_LENGTH ? bytesOf(payload) : payload;
    const tag = changesWith ? headTag(head) : hash("sha1", body, "base64url");
    const response = { body, tag, encoded: new Map() };
    if (isKept) this.#responses.set(url, response);
    return response;
  }

  /** Returns whether the client has the response, in any encoding. Only the exact time counts: a clock can be set back. */
  isKnown(headers: FastifyRequest["headers"], tag: string): boolean {
    const header = headers["if-none-match"];
    if (header === undefined) return !this.#isSinceShared && headers["if-modified-since"] === this.sinceText;
    return header.split(",").some((entry) => {
      const [, known] = /^(?:W\/)?"([^".]*)/.exec(entry.trim()) ?? [];
      // Proxies that compress append "-gzip" (Apache) to the tag.
      return known === tag || known === `${tag}-gzip` || entry.trim() === "*";
    });
  }

  /** Drops the responses of another head. */
  #follow(headId: string | undefined): void {
    if (headId === this.#headId) return;
    this.#responses.clear();
    this.#requested.clear();
    this.#headId = headId;
    const sinceText = new Date(this.#nowMs()).toUTCString();
    this.#isSinceShared = sinceText === this.sinceText;
    this.sinceText = sinceText;
  }

  #isRequestedAgain(url: string): boolean {
    if (url.length > MAX_URL_LENGTH) return false;
    if (this.#requested.has(url)) return true;
    this.#requested.set(url, true);
    return false;
  }
}

/** Digits of a block's id in a tag: enough that a delegate cannot create two blocks with the same ones. */
const HEAD_DIGITS = 32;
/** Another version can write the same rows in another form. A tag contains no point: the encoding follows one. */
const VERSION = programVersion().replaceAll(".", "-");

/** Returns the tag of a response that each block changes. A digest of the body would take a tenth of the time of a page. */
const headTag = ({ id }: Head): string => `${id.slice(0, HEAD_DIGITS)}-${VERSION}`;

const encoder = new TextEncoder();

/** Encodes a text. Most texts are ASCII: their number of bytes is known, and counting them would take half as long again. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(text.length);
  const { read } = encoder.encodeInto(text, bytes);
  return read === text.length ? bytes : Buffer.from(text);
}

const isReading = ({ method }: FastifyRequest): boolean => method === "GET" || method === "HEAD";

/** Returns the tag of a compressed response: different bytes need a different tag. */
export const encodedTag = (tag: string, encoding: string): string => `"${tag}.${encoding}"`;
