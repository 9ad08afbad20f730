/** The console below `/console`: its files, its sessions, and the operations of a signed-in browser. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { API_PREFIXES, type Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import { encodingFor } from "../core/headers.ts";
import { type ConsoleFile, type ConsoleFiles, ENCODINGS } from "./files.ts";
import {
  createSessionRoutes,
  type SessionRoutesDependencies,
  type SessionRoutesOptions,
} from "./session-routes.ts";

export type ConsoleOptions = SessionRoutesOptions;

export type ConsoleDependencies = SessionRoutesDependencies & {
  /** Reads the files; returns undefined if they were not built. */
  readonly readFiles: () => ConsoleFiles | undefined;
  /** Routes that require the webhook token elsewhere, created for access by session. */
  readonly operations: {
    /** Routes below each prefix of the API. */
    readonly api: readonly FastifyPluginAsync[];
    readonly health: FastifyPluginAsync;
  };
};

/** Prefix of the operations: `/api/v2/webhooks` is at `/console/operations/api/v2/webhooks`. */
const OPERATIONS = "/console/operations";

/** Adds the console; must be called before the routes of the API are added. */
export function addConsole(app: Server, options: ConsoleOptions, dependencies: ConsoleDependencies): void {
  const { readFiles, operations } = dependencies;
  app.get("/console", { config: { isUnlimited: true }, schema: { hide: true } }, (_request, reply) =>
    reply.redirect("/console/", 302),
  );
  app.register(createPages(readFiles), { prefix: "/console" });
  app.register(createSessionRoutes(options, dependencies), { prefix: "/console" });
  app.register(
    async (scope) => {
      // Documented at the routes with token; a session does not count against the limit of the API.
      scope.addHook("onRoute", (route) => {
        route.schema = { ...route.schema, hide: true };
        route.config = { ...route.config, isUnlimited: true };
      });
      for (const prefix of API_PREFIXES) {
        for (const plugin of operations.api) await scope.register(plugin, { prefix });
      }
      await scope.register(operations.health);
      // Otherwise the page, which resolves its own paths, would be the response.
      scope.all("/*", () => {
        throw new HttpError("PATH_UNKNOWN", "operation not found in the console");
      });
    },
    { prefix: OPERATIONS },
  );
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

/** Headers of the page and its files. */
const HEADERS = {
  "content-security-policy": POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};
const YEAR = "public, max-age=31536000, immutable";
const NOT_BUILT =
  "The console is not built: run npm start or npm run console in the clone, or install a release.\n";
const hidden = { config: { isUnlimited: true }, schema: { hide: true } };

/**
 * Serves the page and its files; the page itself resolves every path that is not a file.
 *
 * @param read returns all files, or undefined if they were not built; called at the first request
 */
export function createPages(read: () => ConsoleFiles | undefined): FastifyPluginAsync {
  let known: { readonly files: ConsoleFiles | undefined } | undefined;

  async function send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    reply.headers(HEADERS);
    // All files are read together, because they belong to one build.
    known ??= { files: read() };
    const { files } = known;
    const index = files?.get("index.html");
    if (!files || !index) return reply.code(503).type("text/plain; charset=utf-8").send(NOT_BUILT);
    const { "*": path = "" } = request.params as { "*"?: string };
    const file = files.get(path) ?? (path.startsWith("assets/") ? undefined : index);
    if (!file) throw new HttpError("PATH_UNKNOWN", "file not found in the console");
    return sendFile(file, request, reply);
  }

  return async (app) => {
    // The router does not match an empty file name.
    app.get("/", { ...hidden, prefixTrailingSlash: "slash" }, send);
    app.get("/*", hidden, send);
  };
}

async function sendFile(
  file: ConsoleFile,
  { headers, method }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const encoding = encodingFor(headers["accept-encoding"], ENCODINGS);
  const { type, tag, isImmutable, bytes } = file;
  const etag = `"${tag}${encoding === undefined ? "" : `-${encoding}`}"`;
  reply.headers({
    etag,
    vary: "accept-encoding",
    "cache-control": isImmutable ? YEAR : "no-cache",
  });
  if (headers["if-none-match"] === etag) {
    reply.code(304);
    // The HEAD handler measures the body and omits it.
    if (method !== "HEAD") return reply.send();
  }
  reply.type(type);
  if (encoding === undefined) return reply.send(bytes);
  return reply.header("content-encoding", encoding).send(await file.encoded(encoding));
}
