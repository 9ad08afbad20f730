/** An API server: serves the public API from the database of a mirror, until it is stopped. */

import { createForwarding, DEFAULT_FORWARDING_OPTIONS } from "../../gateway/forwarding.ts";
import { DEFAULT_HTTP_GATEWAY_OPTIONS, gatewayOverHttp } from "../../gateway/http.ts";
import type { HttpServer } from "../../http/server/server.ts";
import { createAccess } from "../../http/webhooks/access.ts";
import { waitForIdentity } from "../../mirror/node-identity.ts";
import { countResponses } from "../../operations/http/responses.ts";
import { createOperationRoutes } from "../../operations/http/routes.ts";
import { shownHost } from "../../platform/addresses/hosts.ts";
import { explainListenError } from "../../platform/addresses/listen-error.ts";
import { ConfigError } from "../../platform/config-error.ts";
import { type Closing, createClosing } from "../../platform/lifecycle/closing.ts";
import type { Served } from "../../platform/lifecycle/process.ts";
import type { Log } from "../../platform/logging/logger.ts";
import { createPostgresReadModel } from "../../read/postgres/read-model.ts";
import { openDatabase, waitForDatabase, withOutageLog } from "./database.ts";
import { buildServeHttp, type ServeOptions } from "./http.ts";
import { createServerOperations } from "./operations.ts";

/**
 * @param starting ends the wait for the database and the mirror
 * @throws {ConfigError} if the database or the token is not given
 * @throws {Error} if the database refuses this user, or the port cannot be listened on
 */
export async function startServe(
  options: ServeOptions,
  log: Log,
  starting: AbortSignal,
): Promise<Served & { readonly url: string }> {
  const { logger } = log;
  const closing = createClosing();
  try {
    const url = await open(options, log, { closing, starting });
    return {
      url,
      failed: new Promise<never>(() => {}),
      closing: closing.current,
      stop: () => closing.closeAll(logger),
    };
  } catch (error) {
    await closing.closeAll(logger);
    throw error;
  }
}

async function open(
  options: ServeOptions,
  { logger }: Log,
  { closing, starting }: { readonly closing: Closing; readonly starting: AbortSignal },
): Promise<string> {
  const { databaseUrl, token, node: urls } = options;
  if (databaseUrl === undefined) throw new ConfigError("give the database of the mirror with --database-url");
  if (token === undefined)
    throw new ConfigError('give the webhook token of the node with --token ("uniknode token" prints it)');
  const { postgres, shared, connections, close } = openDatabase(options, databaseUrl, logger);
  closing.add("database", close);
  await waitForDatabase(postgres, logger, starting);
  const { network, identity } = await waitForIdentity(postgres, logger, starting);
  const remote = gatewayOverHttp(
    { ...DEFAULT_HTTP_GATEWAY_OPTIONS, urls, token },
    {
      onChange: (url, reason) =>
        reason === undefined
          ? logger.info({ node: url }, "the node responds again")
          : logger.warn({ node: url, reason }, "a node does not respond"),
    },
  );
  closing.add("gateway", remote.close);
  const forwarding = createForwarding(
    { ...DEFAULT_FORWARDING_OPTIONS, urls },
    {
      onFailure: (url, reason) => logger.warn({ node: url, reason }, "failed to forward a request to a node"),
    },
  );
  closing.add("forwarding", forwarding.close);
  const readModel = withOutageLog(createPostgresReadModel({}, { postgres, shared, network }), logger);
  const { operations, responded } = createServerOperations({
    readModel,
    gateway: remote.gateway,
    calls: () => ({ gateway: remote.figures(), forwarded: forwarding.figures() }),
    databaseConnections: connections,
    // Called once the server listens.
    connections: () => ({ api: server.connections(), operations: undefined }),
  });
  const deps = {
    readModel,
    network,
    identity,
    gateway: remote.gateway,
    forwarding,
    operations,
    token,
    logger,
  };
  const server = buildServeHttp(options, deps);
  closing.add("http", server.close);
  countResponses(server.app, responded);
  const access = options.metricsPublic ? undefined : createAccess({ token });
  server.app.register(createOperationRoutes(access, operations));
  const { port } = await listen(server, options);
  const url = `http://${shownHost(options.httpHost)}:${port}`;
  logger.info({ url, network: network.description.name, nodes: urls }, "API server started");
  return url;
}

/** @throws {ListenError} naming the option of an address that cannot be used */
async function listen(server: HttpServer, { httpHost: host, httpPort: port }: ServeOptions) {
  return server.listen().catch((error) => {
    throw explainListenError(error, { host, port, portFlag: "--http-port", hostFlag: "--http-host" });
  });
}
