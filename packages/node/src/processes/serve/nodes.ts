/** Connections of an API server or a worker to its nodes: calls with a result, and whole requests that are forwarded. */
import type { Logger } from "pino";
import { createForwarding, DEFAULT_FORWARDING_OPTIONS, type Forwarding } from "../../gateway/forwarding.ts";
import {
  DEFAULT_HTTP_GATEWAY_OPTIONS,
  gatewayOverHttp,
  type HttpGateway,
  type HttpGatewayOptions,
} from "../../gateway/http.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";

export type Nodes = { readonly remote: HttpGateway; readonly forwarding: Forwarding };

type NodeOptions = Pick<HttpGatewayOptions, "urls" | "token" | "describe">;
type NodeDeps = { readonly closing: Closing; readonly logger: Logger };

export function connectToNodes(options: NodeOptions, deps: NodeDeps): Nodes {
  const { closing, logger } = deps;
  const remote = connectToGateway(options, deps);
  const forwarding = createForwarding(
    { ...DEFAULT_FORWARDING_OPTIONS, urls: options.urls },
    {
      onFailure: (url, reason) => logger.warn({ node: url, reason }, "failed to forward a request to a node"),
    },
  );
  closing.add("forwarding", forwarding.close);
  return { remote, forwarding };
}

/** Opens the connection for calls with a result. */
export function connectToGateway(options: NodeOptions, { closing, logger }: NodeDeps): HttpGateway {
  const remote = gatewayOverHttp(
    { ...DEFAULT_HTTP_GATEWAY_OPTIONS, ...options },
    {
      onChange: (url, reason) =>
        reason === undefined
          ? logger.info({ node: url }, "the node responds again")
          : logger.warn({ node: url, reason }, "a node does not respond"),
    },
  );
  closing.add("gateway", remote.close);
  return remote;
}
