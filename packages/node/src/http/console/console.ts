/** The console below `/console`: its files, its sessions, and the operations of a signed-in browser. */
import type { FastifyPluginAsync } from "fastify";
import { API_PREFIXES, type Server } from "../server/app.ts";
import { HttpError } from "../server/error.ts";
import type { ConsoleFiles } from "./files.ts";
import { createPages } from "./pages.ts";
import {
  createSessionRoutes,
  type SessionRoutesDependencies,
  type SessionRoutesOptions,
} from "./session-routes.ts";

export type ConsoleOptions = SessionRoutesOptions;

export type ConsoleDependencies = SessionRoutesDependencies & {
  /** Reads the files, undefined if they were not built. */
  readonly readFiles: () => ConsoleFiles | undefined;
  /** The routes that need the webhook token elsewhere, made for the access of a session. */
  readonly operations: {
    /** Below each prefix of the API. */
    readonly api: readonly FastifyPluginAsync[];
    readonly health: FastifyPluginAsync;
  };
};

/** Where the operations are; `/api/v2/webhooks` is at `/console/operations/api/v2/webhooks`. */
const OPERATIONS = "/console/operations";

/** Registered before the routes of the API. */
export function addConsole(app: Server, options: ConsoleOptions, dependencies: ConsoleDependencies): void {
  const { readFiles, operations } = dependencies;
  app.get("/console", { config: { isUnlimited: true }, schema: { hide: true } }, (_request, reply) =>
    reply.redirect("/console/", 302),
  );
  app.register(createPages(readFiles), { prefix: "/console" });
  app.register(createSessionRoutes(options, dependencies), { prefix: "/console" });
  app.register(
    async (scope) => {
      // Documented where the token opens them; a session is not counted against the limit of the API.
      scope.addHook("onRoute", (route) => {
        route.schema = { ...route.schema, hide: true };
        route.config = { ...route.config, isUnlimited: true };
      });
      for (const prefix of API_PREFIXES) {
        for (const plugin of operations.api) await scope.register(plugin, { prefix });
      }
      await scope.register(operations.health);
      // Else the page would answer, which finds its own paths.
      scope.all("/*", () => {
        throw new HttpError("PATH_UNKNOWN", "operation not found in the console");
      });
    },
    { prefix: OPERATIONS },
  );
}
