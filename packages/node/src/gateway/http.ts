/**
 * Client side of the gateway over HTTP (docs/spec/gateway.md). A call goes to the first node that responds. Calls that
 * change nothing are repeated at the next node. A submission or a command of a dev chain goes to another node only if
 * the previous one has not executed it.
 */
import { exactText } from "../platform/json/lossless.ts";
import { CallError, type CallFigures, remainingMs } from "../platform/threads/call.ts";
import { type CallOptions, createCaller, DEFAULT_CALL_OPTIONS, type NewCall, toError } from "./caller.ts";
import type { Gateway, RemoteGateway, RemoteMethod } from "./gateway.ts";
import { type AttemptOutcome, createHttpNode, type HttpNode, type NodeOptions } from "./http-node.ts";

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

export type HttpGateway = {
  readonly gateway: RemoteGateway;
  /** Returns figures about the calls. */
  figures(): CallFigures;
  /** Rejects open calls, and closes all connections. */
  close(): Promise<void>;
};

type Candidate = {
  readonly node: HttpNode;
  /** Monotonic time until which the node is paused; undefined for a node that responds. */
  pausedUntilMs: number | undefined;
};

type State = {
  readonly options: HttpGatewayOptions;
  readonly deps: HttpGatewayDeps;
  readonly candidates: readonly Candidate[];
  isClosed: boolean;
};

export function gatewayOverHttp(options: HttpGatewayOptions, deps: HttpGatewayDeps): HttpGateway {
  const candidates = options.urls.map((url) => ({
    node: createHttpNode({ ...options, url }),
    pausedUntilMs: undefined,
  }));
  const state: State = { options, deps, candidates, isClosed: false };
  const { method, submit, calls } = createCaller(options, (call) => {
    if (state.isClosed) throw closed();
    execute(state, call).then(
      (value) => calls.resolve(call.number, value),
      (error: Error) => calls.reject(call.number, error),
    );
  });
  return {
    gateway: {
      submit: submit(),
      pendingTransactions: method("pendingTransactions"),
      pendingTransaction: method("pendingTransaction"),
      status: method("status"),
      peers: method("peers"),
      report: method("report"),
      recordEvents: method("recordEvents"),
      replaceRemoteNames: method("replaceRemoteNames"),
      dev: method("dev"),
    },
    figures: () => calls.figures(),
    async close() {
      state.isClosed = true;
      calls.rejectAll(closed());
      await Promise.all(candidates.map(({ node }) => node.close()));
    },
  };
}

/** Converts the parameters of each method to the body of its request (`http/gateway/routes.ts`). */
const BODIES: { readonly [M in RemoteMethod]: (...parameters: Parameters<Gateway[M]>) => object } = {
  submit: (transactions) => ({ transactions }),
  pendingTransactions: (range) => range,
  pendingTransaction: (id) => ({ id }),
  status: () => ({}),
  peers: () => ({}),
  report: () => ({}),
  recordEvents: (names) => ({ names }),
  replaceRemoteNames: (names) => ({ names }),
  dev: (command) => command,
};

/** Methods that must not be executed twice. */
const ONCE: ReadonlySet<string> = new Set<RemoteMethod>(["submit", "dev"]);

/** Executes a call at the first node that can. */
async function execute(state: State, { method, parameters, deadline, source }: NewCall): Promise<unknown> {
  const toBody = BODIES[method as RemoteMethod] as (...parameters: readonly unknown[]) => object;
  const body = exactText(toBody(...parameters));
  const isOnce = ONCE.has(method);
  const [ready, paused] = byPreference(state.candidates);
  const reasons: string[] = [];
  let isTimeout = true;
  for (const [index, candidate] of [...ready, ...paused].entries()) {
    const remaining = remainingMs(deadline);
    if (remaining < 1) break;
    // Reserves time for the next nodes, in case this one does not respond.
    const timeoutMs = isOnce ? remaining : remaining / Math.max(ready.length - index, 1);
    const outcome = await candidate.node.attempt({ method, body, source, timeoutMs });
    note(state, candidate, outcome);
    if (outcome.kind === "value") return outcome.value;
    if (outcome.kind === "error") throw toError(outcome.error);
    if (outcome.kind === "unknown" && isOnce) throw lost(outcome);
    reasons.push(outcome.reason);
    isTimeout = outcome.isTimeout;
  }
  const code = isTimeout ? "CALL_TIMEOUT" : "CALL_UNREACHABLE";
  throw new CallError(code, `no node executed the call in time: ${reasons.join("; ")}`);
}

/** Returns the available nodes and the paused nodes, both in the given order. */
function byPreference(candidates: readonly Candidate[]): [ready: Candidate[], paused: Candidate[]] {
  const nowMs = performance.now();
  const isPaused = ({ pausedUntilMs = 0 }: Candidate) => pausedUntilMs > nowMs;
  return [candidates.filter((each) => !isPaused(each)), candidates.filter(isPaused)];
}

/** Pauses a node that failed, and reports changes. */
function note({ options, deps, isClosed }: State, candidate: Candidate, outcome: AttemptOutcome): void {
  if (isClosed) return;
  const { node, pausedUntilMs } = candidate;
  const wasDown = pausedUntilMs !== undefined;
  if (outcome.kind === "value" || outcome.kind === "error") {
    candidate.pausedUntilMs = undefined;
    if (wasDown) deps.onChange(node.url);
    return;
  }
  candidate.pausedUntilMs = performance.now() + options.pauseMs;
  if (!wasDown) deps.onChange(node.url, outcome.reason);
}

type Failed = Extract<AttemptOutcome, { readonly reason: string }>;

/** Creates the error of a call that must not be repeated: whether it was executed is unknown. */
const lost = ({ isTimeout, reason }: Failed): CallError =>
  new CallError(
    isTimeout ? "CALL_TIMEOUT" : "CALL_LOST",
    `${reason}; the call may have been executed: query its effect before you repeat it`,
  );

const closed = () => new CallError("CALL_CLOSED", "the gateway was closed");
