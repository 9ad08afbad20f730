/** The HTTP listener of an API server: resources from PostgreSQL, everything else forwarded to a node. */
import type { Network } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { serveOptions } from "../../config/mirror.ts";
import type { Config } from "../../config/resolve.ts";
import { DEV_NAME } from "../../dev-chain/network.ts";
import type { Forwarding } from "../../gateway/forwarding.ts";
import type { RemoteGateway } from "../../gateway/gateway.ts";
import type { Identity } from "../../http/core/api.ts";
import {
  addForwardedDocumentation,
  createForwardRoutes,
  createOwnedRoutes,
} from "../../http/forward/routes.ts";
import { type HttpDependencies, HttpServer } from "../../http/server/server.ts";
import { createWebhookRoutes } from "../../http/webhooks/routes.ts";
import { createOperationRoutes, type Operations } from "../../operations/http/server.ts";
import type { ReadModel } from "../../read/port.ts";
import type { WebhookRequests } from "../../webhooks/requests.ts";
import { type AccessChecks, buildAccess, buildConsole, toHttpOptions } from "../serving/listeners.ts";

export type ServeOptions = Config<typeof serveOptions>;

export type ServedWebhooks = {
  readonly requests: WebhookRequests;
  /** Returns whether the workers own the webhooks, or begin to hand them over; if not, requests are forwarded to the node. */
  isOwned(): Promise<boolean>;
};

type ServeHttpDeps = {
  readonly readModel: ReadModel;
  readonly network: Network;
  readonly identity: Identity;
  readonly gateway: RemoteGateway;
  readonly forwarding: Forwarding;
  readonly webhooks: ServedWebhooks;
  readonly operations: Operations;
  readonly token: string;
  readonly logger: Logger;
};

export function buildServeHttp(options: ServeOptions, deps: ServeHttpDeps): HttpServer {
  const { forwarding, webhooks, token } = deps;
  const access = buildAccess(token, options);
  return new HttpServer(toHttpOptions(options), {
    ...deps,
    plugins: [
      createForwardRoutes(forwarding),
      createOwnedRoutes(createWebhookRoutes(access.byToken, webhooks.requests), webhooks.isOwned, {
        forwarding,
      }),
    ],
    addDocumentation: (app) => addForwardedDocumentation(app, forwarding),
    namesBlocks: true,
    ...(options.console === "on" && { console: buildServedConsole(deps, access) }),
    nowMs: Date.now,
  });
}

/** Builds the console. A signed-in browser has the same access to the node as the token. */
function buildServedConsole(
  { forwarding, webhooks, operations, network, token }: ServeHttpDeps,
  access: AccessChecks,
): NonNullable<HttpDependencies["console"]> {
  const { name } = network.description;
  const { bySession } = access;
  const node = { devChain: name === DEV_NAME, onDemand: false, eventsPublic: false, network: name };
  return buildConsole(access, node, {
    api: [
      async (scope) => {
        scope.addHook("onRequest", bySession);
        await scope.register(createForwardRoutes(forwarding, { token }));
        await scope.register(
          createOwnedRoutes(createWebhookRoutes(bySession, webhooks.requests), webhooks.isOwned, {
            forwarding,
            token,
          }),
        );
      },
    ],
    health: createOperationRoutes(bySession, operations),
  });
}
