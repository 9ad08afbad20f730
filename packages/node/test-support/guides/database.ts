/** PostgreSQL for pages that use the database `postgres://uniknode:PASSWORD@127.0.0.1/uniknode`. */
import { startPostgres } from "../postgres/server.ts";
import type { Terminal } from "./terminal.ts";

const URL_OF_PAGES = "postgres://uniknode:PASSWORD@127.0.0.1/uniknode";

export const needsDatabase = (commands: readonly string[]): boolean =>
  commands.some((command) => command.includes(URL_OF_PAGES));

/** Starts a server with the database, and returns a function that stops it. */
export async function startDatabase({ values }: Terminal): Promise<() => Promise<void>> {
  const server = await startPostgres();
  values[URL_OF_PAGES] = await server.createDatabase("uniknode");
  return server.stop;
}
