/**
 * Connections of an API server or a worker to its nodes: calls with a result, whole requests that are forwarded, and the description of
 * this process, which nodes show to their operator.
 */
import { hostname } from "node:os";
import type { Logger } from "pino";
import { DEFAULT_FORWARDING_OPTIONS, Forwarding } from "../../gateway/forwarding.ts";
import type { RemoteGateway } from "../../gateway/gateway.ts";
import { DEFAULT_HTTP_GATEWAY_OPTIONS, HttpGateway, type HttpGatewayOptions } from "../../gateway/http.ts";
import { HEIGHT_HEADER, KIND_HEADER, NAME_HEADER } from "../../gateway/remote-processes.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";

type NodeOptions = Pick<HttpGatewayOptions, "urls" | "token" | "describe">;
type NodeDeps = { readonly closing: Closing; readonly logger: Logger };

export function connectToNodes(
  options: NodeOptions,
  deps: NodeDeps,
): { readonly remote: HttpGateway; readonly forwarding: Forwarding } {
  const { closing, logger } = deps;
  const remote = connectToGateway(options, deps);
  const forwarding = new Forwarding(
    { ...DEFAULT_FORWARDING_OPTIONS, urls: options.urls },
    {
      onFailure: (url, reason) => logger.warn({ node: url, reason }, "failed to forward a request to a node"),
    },
  );
  closing.add("forwarding", () => forwarding.close());
  return { remote, forwarding };
}

/** Opens the connection for calls with a result. */
export function connectToGateway(options: NodeOptions, { closing, logger }: NodeDeps): HttpGateway {
  const remote = new HttpGateway(
    { ...DEFAULT_HTTP_GATEWAY_OPTIONS, ...options },
    {
      onChange: (url, reason) =>
        reason === undefined
          ? logger.info({ node: url }, "the node responds again")
          : logger.warn({ node: url, reason }, "a node does not respond"),
    },
  );
  closing.add("gateway", () => remote.close());
  return remote;
}

const EVERY_MS = 3_000;
const MAX_NAME_LENGTH = 64;
const MAX_HOST_LENGTH = 50;

type Announced = {
  readonly kind: "server" | "worker";
  readonly name: () => string;
  /** Returns the head of the database. */
  readonly head: () => Promise<{ readonly height: number } | undefined>;
};

export class Announcement {
  readonly #announced: Announced;
  #height: number | undefined;

  constructor(announced: Announced) {
    this.#announced = announced;
  }

  /** Returns the headers of a call to a node. */
  headers(): Readonly<Record<string, string>> {
    const { kind, name } = this.#announced;
    return {
      [KIND_HEADER]: kind,
      [NAME_HEADER]: toName(name(), MAX_NAME_LENGTH),
      ...(this.#height !== undefined && { [HEIGHT_HEADER]: `${this.#height}` }),
    };
  }

  /**
   * Calls a node regularly, so that the node knows the height even while no client sends requests.
   *
   * @returns a function that ends the calls
   */
  begin(gateway: Pick<RemoteGateway, "status">): () => void {
    // If the database or every node is down, the log has the reason.
    const run = () => void this.#announce(gateway).catch(() => {});
    run();
    const timer = setInterval(run, EVERY_MS).unref();
    return () => clearInterval(timer);
  }

  async #announce(gateway: Pick<RemoteGateway, "status">): Promise<void> {
    this.#height = (await this.#announced.head())?.height;
    await gateway.status();
  }
}

/** Returns the name of an API server. */
export const serverName = (port: number | undefined): string =>
  `${toName(hostname(), MAX_HOST_LENGTH)}:${port ?? 0}`;

/** Replaces characters that a name must not have. */
const toName = (text: string, maxLength: number): string =>
  text.replace(/[^\w.:-]/g, "-").slice(0, maxLength);
