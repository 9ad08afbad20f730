/** Connections of an API server to its nodes: calls with a result, and whole requests that are forwarded. */
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

export function connectToNodes(
  options: Pick<HttpGatewayOptions, "urls" | "token" | "describe">,
  { closing, logger }: { readonly closing: Closing; readonly logger: Logger },
): Nodes {
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
  const forwarding = createForwarding(
    { ...DEFAULT_FORWARDING_OPTIONS, urls: options.urls },
    {
      onFailure: (url, reason) => logger.warn({ node: url, reason }, "failed to forward a request to a node"),
    },
  );
  closing.add("forwarding", forwarding.close);
  return { remote, forwarding };
}
