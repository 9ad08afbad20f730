/** Access to the webhook register (webhooks.md 2), checked before everything else. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { createCrossSiteTest } from "../../platform/addresses/hosts.ts";
import { ANY_ADDRESS, createRangeTest } from "../../platform/addresses/ranges.ts";
import { HttpError } from "../core/error.ts";

export type AccessOptions = {
  /** Token that every request must contain, raw or after `Bearer`. If absent, every request is refused. */
  readonly token?: string;
  /** Addresses and networks (CIDR) with access; absent or containing `*`: all. */
  readonly whitelist?: readonly string[];
  /** True to behave like the old node: only the whitelist counts, and no token is required. */
  readonly isLegacy?: boolean;
  /** Further names and addresses of this machine that these callers may use as Host (`addresses/hosts.ts`). */
  readonly hosts?: readonly string[];
};

declare module "fastify" {
  interface FastifyContextConfig {
    isBodyOptional?: boolean;
  }
}

/** A hook for requests whose body is not read yet. */
export type Access = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Returns whether a text is the token. */
export type TokenTest = (text: string) => boolean;

/** Compares digests, which have the same length, in constant time. */
export function createTokenTest(token: string): TokenTest {
  const expected = digest(token);
  return (text) => timingSafeEqual(digest(text), expected);
}

/** @throws {Error} if an entry of the whitelist is neither address nor network */
export function createAccess({ token, whitelist, isLegacy = false, hosts = [] }: AccessOptions): Access {
  const crossSite = createCrossSiteTest(hosts, "--http-hosts");
  const isListed = createRangeTest((whitelist ?? [ANY_ADDRESS]).join());
  const isToken = token ? createTokenTest(token) : undefined;

  return async (request, reply) => {
    if (!isListed(request.ip)) {
      throw new HttpError(
        "ADDRESS_REFUSED",
        `The address ${request.ip} may not use the register: see --webhook-legacy`,
      );
    }
    if (isLegacy) refuseCrossSite(request);
    else if (!isAuthorized(request.headers.authorization)) {
      reply.header("www-authenticate", 'Bearer realm="webhooks"');
      throw unauthorized(request.headers.authorization);
    }
    requireJson(request, isLegacy ? ANY_JSON : JSON_TYPE);
  };

  /** Checks that a request without token is neither cross-site nor from an unknown client of a proxy. */
  function refuseCrossSite({ ip, host, headers, socket }: FastifyRequest): void {
    const { origin } = headers;
    const reason = crossSite({ host, origin, localAddress: socket.localAddress });
    if (reason !== undefined) throw new HttpError("CROSS_SITE", reason);
    // The address is that of a proxy, whose clients are unknown.
    if (headers["x-forwarded-for"] !== undefined && ip === socket.remoteAddress) {
      throw new HttpError(
        "PROXY_UNKNOWN",
        "the request came through a proxy that --http-trust-proxy does not name",
      );
    }
  }

  function isAuthorized(header: string | undefined): boolean {
    if (isToken === undefined || header === undefined) return false;
    const isRaw = isToken(header);
    const isBearer = isToken(header.replace(/^Bearer +/i, ""));
    return isRaw || isBearer;
  }
}

function unauthorized(header: string | undefined): HttpError {
  return header === undefined
    ? new HttpError(
        "TOKEN_MISSING",
        'The header "Authorization" is missing: it must contain the webhook token of this node; "uniknode token" prints it',
      )
    : new HttpError(
        "TOKEN_WRONG",
        'The header "Authorization" does not contain the webhook token of this node; "uniknode token" prints it. The secret of a single webhook is a different token',
      );
}

/** Refuses bodies of other types, which a page of another site can make a browser send without a preflight. */
export function requireJson(request: FastifyRequest, types = JSON_TYPE): void {
  const header = request.headers["content-type"];
  if (needsBody(request) && !types.test(mediaType(header))) {
    throw new HttpError("UNSUPPORTED_CONTENT_TYPE", contentTypeText(header));
  }
}

const contentTypeText = (header: string | undefined): string =>
  `Content-Type must be application/json, ${header === undefined ? "and is missing" : `not ${mediaType(header).slice(0, MAX_SHOWN)}`}`;

const MAX_SHOWN = 100;

function needsBody({ method, headers, routeOptions }: FastifyRequest): boolean {
  const hasBody = (headers["content-length"] ?? "0") !== "0" || headers["transfer-encoding"] !== undefined;
  return (method === "POST" || method === "PUT") && (hasBody || !routeOptions.config.isBodyOptional);
}

const digest = (text: string) => createHash("sha256").update(text).digest();

const JSON_TYPE = /^application\/json$/;
const ANY_JSON = /^application\/([\w.-]+\+)?json$/;

const mediaType = (header = ""): string => header.replace(/;.*$/s, "").trim().toLowerCase();
