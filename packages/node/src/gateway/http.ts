/**
 * Client side of the gateway over HTTP (docs/spec/gateway.md). A call goes to the first node that responds. Calls that
 * change nothing are repeated at the next node. A submission or a command of a dev chain goes to another node only if
 * the previous one has not executed it.
 */
import { exactText } from "../platform/json/lossless.ts";
import { CallError, type CallFigures, remainingMs } from "../platform/threads/call.ts";
import { Caller, type CallOptions, DEFAULT_CALL_OPTIONS, type NewCall, toError } from "./caller.ts";
import { type Gateway, REMOTE_METHODS, type RemoteGateway, type RemoteMethod } from "./gateway.ts";
import { type AttemptOutcome, HttpNode, type NodeOptions } from "./http-node.ts";

export type HttpGatewayOptions = CallOptions &
  Omit<NodeOptions, "url"> & {
    /** Base URLs of the nodes, in the order of preference. */
    readonly urls: readonly string[];
    /** Time for which a node that failed is called only if all others fail as well. */
    readonly pauseMs: number;
  };

export const DEFAULT_HTTP_GATEWAY_OPTIONS: Omit<HttpGatewayOptions, "urls" | "token"> = {
  ...DEFAULT_CALL_OPTIONS,
  maxConnections: 16,
  connectTimeoutMs: 1_000,
  // Enough for a page of pending transactions, each of which fills a request.
  maxResponseLength: 128 * 1024 * 1024,
  pauseMs: 5_000,
};

export type HttpGatewayDeps = {
  /** Called with the reason when a node fails, and without a reason when it responds again. */
  readonly onChange: (url: string, reason?: string) => void;
};

type Candidate = {
  readonly node: HttpNode;
  /** Monotonic time until which the node is paused; undefined for a node that responds. */
  pausedUntilMs: number | undefined;
};

export class HttpGateway {
  /** Its calls have the default timeouts. */
  readonly gateway: RemoteGateway;
  readonly #caller: Caller;
  readonly #pauseMs: number;
  readonly #onChange: HttpGatewayDeps["onChange"];
  readonly #candidates: readonly Candidate[];
  #isClosed = false;

  constructor(options: HttpGatewayOptions, { onChange }: HttpGatewayDeps) {
    this.#pauseMs = options.pauseMs;
    this.#onChange = onChange;
    this.#candidates = options.urls.map((url) => ({
      node: new HttpNode({ ...options, url }),
      pausedUntilMs: undefined,
    }));
    this.#caller = new Caller(options, (call) => this.#send(call));
    this.gateway = this.within();
  }

  /** Returns a gateway whose calls have at most this time. */
  within(timeoutMs?: number): RemoteGateway {
    return this.#caller.methods(REMOTE_METHODS, timeoutMs);
  }

  /** Returns figures about the calls. */
  figures(): CallFigures {
    return this.#caller.calls.figures();
  }

  /** Rejects open calls, and closes all connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#caller.calls.rejectAll(closed());
    await Promise.all(this.#candidates.map(({ node }) => node.close()));
  }

  #send(call: NewCall): void {
    if (this.#isClosed) throw closed();
    this.#execute(call).then(
      (value) => this.#caller.calls.resolve(call.number, value),
      (error: Error) => this.#caller.calls.reject(call.number, error),
    );
  }

  /** Executes a call at the first node that can. */
  async #execute({ method, parameters, deadline, source }: NewCall): Promise<unknown> {
    const toBody = BODIES[method as RemoteMethod] as (...parameters: readonly unknown[]) => object;
    const body = exactText(toBody(...parameters));
    const isOnce = ONCE.has(method);
    const [ready, paused] = byPreference(this.#candidates);
    const reasons: string[] = [];
    let isTimeout = true;
    for (const [index, candidate] of [...ready, ...paused].entries()) {
      const remaining = remainingMs(deadline);
      if (remaining < 1) break;
      // Reserves time for the next nodes, in case this one does not respond.
      const timeoutMs = isOnce ? remaining : remaining / Math.max(ready.length - index, 1);
      const outcome = await candidate.node.attempt({ method, body, source, timeoutMs });
      this.#note(candidate, outcome);
      if (outcome.kind === "value") return outcome.value;
      if (outcome.kind === "error") throw toError(outcome.error);
      if (outcome.kind === "unknown" && isOnce) throw lost(outcome);
      reasons.push(outcome.reason);
      isTimeout = outcome.isTimeout;
    }
    const code = isTimeout ? "CALL_TIMEOUT" : "CALL_UNREACHABLE";
    throw new CallError(code, `no node executed the call in time: ${reasons.join("; ")}`);
  }

  /** Pauses a node that failed, and reports changes. */
  #note(candidate: Candidate, outcome: AttemptOutcome): void {
    if (this.#isClosed) return;
    const { node, pausedUntilMs } = candidate;
    const wasDown = pausedUntilMs !== undefined;
    if (outcome.kind === "value" || outcome.kind === "error") {
      candidate.pausedUntilMs = undefined;
      if (wasDown) this.#onChange(node.url);
      return;
    }
    candidate.pausedUntilMs = performance.now() + this.#pauseMs;
    if (!wasDown) this.#onChange(node.url, outcome.reason);
  }
}

/** Converts the parameters of each method to the body of its request (`http/gateway/routes.ts`). */
const BODIES: { readonly [M in RemoteMethod]: (...parameters: Parameters<Gateway[M]>) => object } = {
  submit: (transactions) => ({ transactions }),
  pendingTransactions: (range) => range,
  pendingTransaction: (id) => ({ id }),
  status: () => ({}),
  peers: () => ({}),
  report: () => ({}),
  replaceRemoteNames: (names) => ({ names }),
  dev: (command) => command,
};

/** Methods that must not be executed twice. */
const ONCE: ReadonlySet<string> = new Set<RemoteMethod>(["submit", "dev"]);

/** Returns the available nodes and the paused nodes, both in the given order. */
function byPreference(candidates: readonly Candidate[]): [ready: Candidate[], paused: Candidate[]] {
  const nowMs = performance.now();
  const isPaused = ({ pausedUntilMs = 0 }: Candidate) => pausedUntilMs > nowMs;
  return [candidates.filter((each) => !isPaused(each)), candidates.filter(isPaused)];
}

type Failed = Extract<AttemptOutcome, { readonly reason: string }>;

/** Creates the error of a call that must not be repeated: whether it was executed is unknown. */
const lost = ({ isTimeout, reason }: Failed): CallError =>
  new CallError(
    isTimeout ? "CALL_TIMEOUT" : "CALL_LOST",
    `${reason}; the call may have been executed: query its effect before you repeat it`,
  );

const closed = () => new CallError("CALL_CLOSED", "the gateway was closed");
