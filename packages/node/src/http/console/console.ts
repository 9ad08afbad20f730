/** The console below `/console`: its files, its sessions, and the operations of a signed-in browser. */
import type { FastifyPluginAsync } from "fastify";
import { API_PREFIXES, type Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import type { ConsoleFiles } from "./files.ts";
import { createPages } from "./pages.ts";
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
