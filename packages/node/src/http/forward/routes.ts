/** Routes whose data only a node has: an API server forwards their requests to it, and its responses unchanged. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { ForwardedRequest, Forwarding } from "../../gateway/forwarding.ts";
import type { Server } from "../core/app.ts";
import { MAX_BODY_BYTES } from "../core/bodies.ts";
import { HttpError } from "../core/error.ts";

/** First segments of the paths below each prefix of the API. */
const RESOURCES = ["events", "facts", "dev", "operations"];
/** A route below another resource: resolutions come from the tree of facts. */
const RESOLVE = "/uniks/:id/resolve";
/** The live stream, whose response ends with the connection. */
const STREAM = "/events";
/** The description of the API, with the routes that are forwarded. */
const DOCUMENTATION = [
  "/api/openapi.json",
  "/api/v2/openapi.json",
  "/documentation",
  "/documentation/",
  "/documentation/*",
];
/** Prefix of the operations of a signed-in browser. */
const CONSOLE = /^\/console\/operations(?=\/)/;
/** The longest command of a dev chain ends earlier (`gateway/caller.ts`). */
const RESPONSE_TIMEOUT_MS = 28_000;

/** Headers of one connection (RFC 9110, 7.6.1), headers that the client of the node sets itself, and secrets of the console. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "cookie",
  "date",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-session-key",
]);

type ForwardOptions = {
  /** Replaces the token of the client, which has access by other means. */
  readonly token?: string;
};

/** Creates the plugin for each prefix of the API. */
export const createForwardRoutes =
  (forwarding: Pick<Forwarding, "forward">, options: ForwardOptions = {}): FastifyPluginAsync =>
  async (scope) => {
    addForwarded(
      scope as Server,
      [...RESOURCES.flatMap((name) => [`/${name}`, `/${name}/*`]), RESOLVE],
      (request, reply) => forwardTo(forwarding, options, request, reply),
    );
  };

/**
 * Creates the plugin for routes that this process serves by itself, as long as it owns their data; otherwise, their requests are
 * forwarded.
 *
 * @param isOwned called for each request
 */
export const createOwnedRoutes =
  (
    routes: FastifyPluginAsync,
    isOwned: () => Promise<boolean>,
    { forwarding, ...options }: ForwardOptions & { readonly forwarding: Pick<Forwarding, "forward"> },
  ): FastifyPluginAsync =>
  async (scope) => {
    scope.addHook("onRequest", async (request, reply) => {
      if (await isOwned()) return;
      // The node parses the body.
      request.body = await readBody(request);
      return forwardTo(forwarding, options, request, reply);
    });
    await scope.register(routes);
  };

/** @throws {HttpError} BODY_TOO_LARGE */
async function readBody({ raw }: FastifyRequest): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of raw as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES)
      throw new HttpError(
        "BODY_TOO_LARGE",
        `Payload content length greater than maximum allowed: ${MAX_BODY_BYTES}`,
      );
    parts.push(part);
  }
  return bytes === 0 ? undefined : Buffer.concat(parts);
}

/** Adds the description of the API. */
export function addForwardedDocumentation(app: Server, forwarding: Pick<Forwarding, "forward">): void {
  app.register(async (scope) =>
    addForwarded(scope as Server, DOCUMENTATION, (request, reply) =>
      forwardTo(forwarding, {}, request, reply),
    ),
  );
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

function addForwarded(app: Server, paths: readonly string[], handler: Handler): void {
  // The node parses the body.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  for (const path of paths) {
    app.all(
      path,
      {
        bodyLimit: MAX_BODY_BYTES,
        schema: { hide: true },
        config: { responseTimeoutMs: RESPONSE_TIMEOUT_MS, isEndless: path === STREAM },
      },
      handler,
    );
  }
}

async function forwardTo(
  forwarding: Pick<Forwarding, "forward">,
  { token }: ForwardOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const leaving = new AbortController();
  reply.raw.once("close", () => leaving.abort());
  const forwarded: ForwardedRequest = {
    client: request.ip,
    method: request.method,
    path: request.url.replace(CONSOLE, ""),
    headers: {
      ...toHeaders(request.headers),
      "x-forwarded-for": request.ip,
      ...(token !== undefined && { authorization: token }),
    },
    body: Buffer.isBuffer(request.body) ? request.body : undefined,
    signal: leaving.signal,
  };
  const response = await forwarding.forward(forwarded);
  return reply
    .code(response.status)
    .headers(toHeaders(response.headers, ["content-length"]))
    .send(response.body);
}

/** @param kept headers of the connection that describe the body */
function toHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  kept: readonly string[] = [],
): Record<string, string | string[]> {
  const entries = Object.entries(headers).flatMap(([name, value]): [string, string | string[]][] =>
    value === undefined || (OF_THE_CONNECTION.has(name) && !kept.includes(name)) ? [] : [[name, value]],
  );
  return Object.fromEntries(entries);
}
