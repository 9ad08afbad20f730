/** Access to the webhook register (webhooks.md 2), checked before everything else. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { HttpError } from "../core/error.ts";

export type AccessOptions = {
  /** Token that every request must contain, raw or after `Bearer`. If absent, every request is refused. */
  readonly token?: string;
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

export function createAccess({ token }: AccessOptions): Access {
  const isToken = token ? createTokenTest(token) : undefined;

  return async (request, reply) => {
    if (!isAuthorized(request.headers.authorization)) {
      reply.header("www-authenticate", 'Bearer realm="webhooks"');
      throw unauthorized(request.headers.authorization);
    }
    requireJson(request);
  };

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
export function requireJson(request: FastifyRequest): void {
  const header = request.headers["content-type"];
  if (needsBody(request) && mediaType(header) !== "application/json") {
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

const mediaType = (header = ""): string => header.replace(/;.*$/s, "").trim().toLowerCase();
