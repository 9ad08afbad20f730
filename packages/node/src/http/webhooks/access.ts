/** Who may use the register (webhooks.md section 2). Checked before anything else is looked at. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { createRangeTest, EVERYBODY } from "../../addresses/ranges.ts";
import { HttpError } from "../transport/error.ts";

export type AccessOptions = {
  /** Every request carries it, raw or behind `Bearer`. Without one nobody is let in. */
  readonly token?: string;
  /** Addresses and networks (CIDR) that may call; absent or with `*` among them: all. */
  readonly whitelist?: readonly string[];
  /** Behave like the old node: only the whitelist counts, neither token nor Content-Type are asked for. */
  readonly isLegacy?: boolean;
};

declare module "fastify" {
  interface FastifyContextConfig {
    /** There is nothing to say in a body, so none is asked for. */
    isBodyOptional?: boolean;
  }
}

/**
 * A hook for requests whose body is not read yet.
 *
 * @throws {Error} when an entry of the whitelist is neither address nor network
 */
export function createAccess({ token, whitelist, isLegacy = false }: AccessOptions) {
  const isListed = createRangeTest((whitelist ?? [EVERYBODY]).join());
  const expected = token ? digest(token) : undefined;

  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { ip, headers } = request;
    if (!isListed(ip)) throw new HttpError(403);
    if (isLegacy) return;
    if (!isAuthorized(headers.authorization)) {
      reply.header("www-authenticate", 'Bearer realm="webhooks"');
      throw new HttpError(401);
    }
    if (needsBody(request) && mediaType(headers["content-type"]) !== "application/json") {
      throw new HttpError(415, "Content-Type must be application/json");
    }
  };

  /** Digests have one length, so the comparison takes one time. */
  function isAuthorized(header: string | undefined): boolean {
    if (expected === undefined || header === undefined) return false;
    const isRaw = timingSafeEqual(digest(header), expected);
    const isBearer = timingSafeEqual(digest(header.replace(/^Bearer +/i, "")), expected);
    return isRaw || isBearer;
  }
}

function needsBody({ method, headers, routeOptions }: FastifyRequest): boolean {
  const hasBody = (headers["content-length"] ?? "0") !== "0" || headers["transfer-encoding"] !== undefined;
  return (method === "POST" || method === "PUT") && (hasBody || !routeOptions.config.isBodyOptional);
}

const digest = (text: string) => createHash("sha256").update(text).digest();

const mediaType = (header: string | undefined) => header?.split(";")[0]?.trim().toLowerCase();
