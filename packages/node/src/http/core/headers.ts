/** Headers of every response, those of CORS, and the choice of an encoding. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Server } from "./app.ts";

/**
 * Instructions for browsers: revalidate cached responses (http-api.md 1.5), trust the content type, and never execute, frame
 * or embed a response. Pages of any origin can still read responses (http-api.md 1.8).
 */
export const COMMON_HEADERS = {
  "cache-control": "no-cache",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
} as const;

export function addCommonHeaders(app: Server): void {
  app.addHook("onRequest", (_request, reply, done) => {
    reply.headers(COMMON_HEADERS);
    done();
  });
}

/** Headers that pages of other origins may read, besides the few that browsers always expose. */
const EXPOSED_HEADERS = [
  "content-length, etag, link, allow, retry-after, error-code, webhook-warnings, x-uniknode-height, x-uniknode-block",
  "x-ratelimit-userlimit, x-ratelimit-userremaining, x-ratelimit-userreset",
  "ratelimit-policy, ratelimit-limit, ratelimit-remaining, ratelimit-reset",
].join(", ");

/** Time for which a browser may cache the response to a preflight. */
const MAX_AGE_SECONDS = 600;

/**
 * Pages of every origin may read every response (http-api.md 1.8), because all data of the API is public. Responses below
 * `/console`, which sessions authorise, can only be read by pages of the node itself.
 */
export function addCors(app: Server): void {
  app.addHook("onRequest", (request, reply, done) => {
    allowOrigin(request, reply);
    if (isPreflight(request)) grant(request, reply);
    else done();
  });
}

/** Returns whether the request is a preflight that is granted. */
export const isPreflight = ({ method, headers, url }: FastifyRequest): boolean =>
  method === "OPTIONS" && headers.origin !== undefined && !isConsolePath(url);

/** Grants a preflight request for any path of the API. */
export function grant({ headers }: FastifyRequest, reply: FastifyReply): void {
  reply
    .header("access-control-expose-headers", "content-type, content-length, etag")
    .header("access-control-max-age", MAX_AGE_SECONDS);
  const wanted = headers["access-control-request-headers"];
  const method = headers["access-control-request-method"];
  if (wanted !== undefined) reply.header("access-control-allow-headers", wanted);
  if (method !== undefined) reply.header("access-control-allow-methods", method);
  reply.code(200).send({});
}

/** Lets the page of the request's origin read the response, except below `/console`. */
export function allowOrigin({ headers: { origin }, url }: FastifyRequest, reply: FastifyReply): void {
  if (origin === undefined || isConsolePath(url)) return;
  reply
    .header("access-control-allow-origin", origin)
    .header("access-control-allow-credentials", "true")
    .header("access-control-expose-headers", EXPOSED_HEADERS);
  addVary(reply, "origin");
}

/** Adds a header of requests on which the response depends. */
export function addVary(reply: FastifyReply, name: string): void {
  const vary = reply.getHeader("vary");
  reply.header("vary", vary === undefined ? name : `${vary}, ${name}`);
}

/**
 * Returns whether a URL leads below `/console`, in any spelling that the router, a proxy or a browser may interpret that way:
 * percent-encoded, with repeated slashes, backslashes or dot segments, in other letter case, or as a whole address.
 */
function isConsolePath(url: string): boolean {
  // Almost every URL: it has no characters that allow another spelling.
  if (PLAIN_API.test(url)) return false;
  const [path = ""] = url.replace(ORIGIN, "").split(/[?#]/, 1);
  const decoded = decode(path);
  return [path, decoded].some((spelling) => firstSegments(spelling).includes("console"));
}

const PLAIN_API = /^\/api\/[\w/-]*(?:\?|$)/;
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i;
/** Maximum number of decodings: each layer in front of the router may decode once. */
const MAX_DECODINGS = 3;

function decode(path: string): string {
  let text = path;
  for (let round = 0; round < MAX_DECODINGS && text.includes("%"); round += 1) {
    text = text.replace(/%([\da-f]{2})/gi, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    );
  }
  return text;
}

/** Returns the first segment as written, and the first after resolving dot segments. */
function firstSegments(path: string): (string | undefined)[] {
  const segments = path
    .toLowerCase()
    .split(/[/\\]+/)
    .map((segment) => segment.replace(/;.*$/s, "").trim())
    .filter((segment) => segment !== "" && segment !== ".");
  const resolved: string[] = [];
  for (const segment of segments) {
    if (segment === "..") resolved.pop();
    else resolved.push(segment);
  }
  return [segments[0], resolved[0]];
}

/** Returns the preferred encoding of an Accept-Encoding header, the first of equal ones; undefined for no encoding. */
export function encodingFor<Name extends string>(
  header: string | string[] | undefined,
  encodings: readonly Name[],
): Name | undefined {
  if (header === undefined) return undefined;
  const weights = new Map<string, number>();
  for (const entry of String(header).toLowerCase().split(",")) {
    // Such as `gzip;q=0.5`; the weight is from 0 (never) to 1.
    const [name = "", ...parameters] = entry.trim().split(/\s*;\s*/);
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)));
  }
  let best: Name | undefined;
  let bestWeight = 0;
  for (const name of encodings) {
    const weight = weights.get(name) ?? 0;
    if (weight > bestWeight) [best, bestWeight] = [name, weight];
  }
  return bestWeight >= (weights.get("identity") ?? 0) ? best : undefined;
}
