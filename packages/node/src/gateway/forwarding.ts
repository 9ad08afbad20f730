/** Forwards HTTP requests to the first node that can be reached, for data that only a node has. */
import type { Readable } from "node:stream";
import { Pool } from "undici";
import { ClientSlots } from "../platform/client-slots.ts";
import { CallError, type CallFigures } from "../platform/threads/call.ts";

export type ForwardedRequest = {
  /** Address of the client. */
  readonly client: string;
  readonly method: string;
  /** Path with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Uint8Array | undefined;
  /** Ends the request and the body of its response. */
  readonly signal: AbortSignal;
};

export type ForwardedResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
};

export type ForwardingOptions = {
  /** Base URLs of the nodes, in the order of preference. */
  readonly urls: readonly string[];
  /** Maximum number of requests whose responses have not ended, including live streams. */
  readonly maxOpen: number;
  /** Maximum number of such requests of one client: an IPv4 address, or the /64 of an IPv6 address. */
  readonly maxOpenPerClient: number;
  readonly connectTimeoutMs: number;
  /** Time limit for the start of a response to a request that changes nothing; then the request goes to the next node. */
  readonly headersTimeoutMs: number;
};

export type ForwardingDeps = {
  /** Called when a node does not respond to a request. */
  readonly onFailure: (url: string, reason: string) => void;
};

export const DEFAULT_FORWARDING_OPTIONS: Omit<ForwardingOptions, "urls"> = {
  maxOpen: 500,
  maxOpenPerClient: 50,
  connectTimeoutMs: 1_000,
  // Maximum time of a response of the node itself.
  headersTimeoutMs: 8_000,
};

type Node = { readonly url: string; readonly basePath: string; readonly pool: Pool };

export class Forwarding {
  readonly #options: ForwardingOptions;
  readonly #deps: ForwardingDeps;
  readonly #nodes: readonly Node[];
  readonly #figures = { timedOut: 0, refused: 0 };
  readonly #slots: ClientSlots;

  constructor(options: ForwardingOptions, deps: ForwardingDeps) {
    const { urls, maxOpen, maxOpenPerClient, connectTimeoutMs } = options;
    this.#options = options;
    this.#slots = new ClientSlots({ total: maxOpen, perClient: maxOpenPerClient });
    this.#deps = deps;
    this.#nodes = urls.map((url) => {
      const { origin, pathname } = new URL(url);
      const pool = new Pool(origin, {
        connections: maxOpen,
        pipelining: 1,
        connect: { timeout: connectTimeoutMs },
        // A live stream is silent while no event occurs; the end of the client's connection ends it.
        bodyTimeout: 0,
      });
      return { url, basePath: pathname.replace(/\/$/, ""), pool };
    });
  }

  /** @throws {CallError} CALL_UNREACHABLE if no node can be reached, CALL_REFUSED beyond the bound */
  async forward(request: ForwardedRequest): Promise<ForwardedResponse> {
    const done = this.#begin(request);
    const headersTimeout = isSafe(request) ? this.#options.headersTimeoutMs : 0;
    for (const node of this.#nodes) {
      try {
        const response = await send(node, request, headersTimeout);
        response.body.once("close", done);
        return response;
      } catch (error) {
        const { code, message } = error as Error & { readonly code?: string };
        if (!request.signal.aborted) this.#deps.onFailure(node.url, message);
        if (code === "UND_ERR_HEADERS_TIMEOUT") this.#figures.timedOut += 1;
        // The node may have executed the request: only requests that change nothing are repeated.
        if (request.signal.aborted || !(isUnsent(code) || isSafe(request))) break;
      }
    }
    done();
    throw new CallError("CALL_UNREACHABLE", "no node responded to a forwarded request");
  }

  figures(): CallFigures {
    return { ...this.#figures, open: this.#slots.taken };
  }

  async close(): Promise<void> {
    await Promise.all(this.#nodes.map(({ pool }) => pool.destroy()));
  }

  /**
   * Counts a request until the returned function is called.
   *
   * @throws {CallError} CALL_REFUSED
   */
  #begin(request: ForwardedRequest): () => void {
    const release = this.#slots.take(request.client);
    if (release) return release;
    this.#figures.refused += 1;
    throw new CallError("CALL_REFUSED", "too many forwarded requests are in progress");
  }
}

async function send(
  { basePath, pool }: Node,
  request: ForwardedRequest,
  headersTimeout: number,
): Promise<ForwardedResponse> {
  const { method, path, headers, body = null, signal } = request;
  const response = await pool.request({
    method: method as "GET",
    path: basePath + path,
    headers,
    body,
    signal,
    headersTimeout,
  });
  // The client may disconnect before it has read everything.
  response.body.on("error", () => {});
  return { status: response.statusCode, headers: response.headers, body: response.body };
}

const isUnsent = (code: string | undefined): boolean =>
  code === "ECONNREFUSED" || code === "UND_ERR_CONNECT_TIMEOUT";
const isSafe = ({ method }: ForwardedRequest): boolean => method === "GET" || method === "HEAD";
