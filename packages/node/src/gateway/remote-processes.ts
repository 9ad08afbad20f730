/**
 * The operator's processes on other machines that use the feed or the gateway of this node: mirrors, API servers, workers; and the node
 * side of the gateway over HTTP, which executes their calls.
 */
import { LRUCache } from "lru-cache";
import { type Deadline, isOver, remainingMs } from "../platform/threads/call.ts";
import { type Failure, GatewayError, toFailure } from "./caller.ts";
import type { RemoteGateway } from "./gateway.ts";

export type RemoteProcess = {
  readonly kind: "mirror" | "server" | "worker";
  readonly address: string;
  /** Name that the process gives itself. */
  readonly name?: string;
  /** Height of the last block of the process, if the node knows it. */
  readonly height?: number;
};

export type SeenProcess = RemoteProcess & {
  /** Unix time in milliseconds. */
  readonly lastSeenMs: number;
};

/** Maximum number of processes, and the time without a call after which a process is forgotten. */
const MAX_PROCESSES = 100;
const FORGET_MS = 3_600_000;

export class RemoteProcesses {
  readonly #nowMs: () => number;
  readonly #seen: LRUCache<string, SeenProcess>;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#seen = new LRUCache({
      max: MAX_PROCESSES,
      ttl: FORGET_MS,
      perf: { now: nowMs },
      ttlResolution: 0,
    });
  }

  /** Must be called whenever a process uses the feed or the gateway. */
  note(process: RemoteProcess): void {
    this.#seen.set(keyOf(process), { ...process, lastSeenMs: this.#nowMs() });
  }

  /** Returns the processes by kind, address and name. */
  list(): SeenProcess[] {
    return [...this.#seen.values()].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }
}

const keyOf = ({ kind, address, name = "" }: RemoteProcess): string => `${kind} ${address} ${name}`;

/** Headers by which an API server or a delivery worker describes itself to a node. */
export const KIND_HEADER = "x-uniknode-kind";
export const NAME_HEADER = "x-uniknode-name";
export const HEIGHT_HEADER = "x-uniknode-server-height";
const NAME = /^[\w.:-]{1,64}$/;
const HEIGHT = /^\d{1,10}$/;

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns the process that the headers describe, by default an API server; undefined if they describe none. */
export function readCaller(headers: Headers, address: string): RemoteProcess | undefined {
  const [name, height] = [`${headers[NAME_HEADER] ?? ""}`, `${headers[HEIGHT_HEADER] ?? ""}`];
  if (!NAME.test(name)) return undefined;
  const kind = headers[KIND_HEADER] === "worker" ? "worker" : "server";
  return { kind, address, name, ...(HEIGHT.test(height) && { height: Number(height) }) };
}

export type RemoteCallOptions = {
  /** Maximum number of open calls of all machines. */
  readonly maxCalls: number;
};

/** The calls of the serving thread itself must fit beside them: see `DEFAULT_CALL_OPTIONS`. */
export const DEFAULT_REMOTE_CALL_OPTIONS: RemoteCallOptions = { maxCalls: 500 };

/** Result of an executed call; a method without a result has the value null. */
type Outcome = { readonly value: unknown } | { readonly error: Failure };

export type RemoteCallFigures = {
  readonly open: number;
  /** Calls refused since the process started, because too many were open. */
  readonly refused: number;
  /** Calls that were not executed because their time was over, since the process started. */
  readonly late: number;
};

/** Executes the calls of other machines. Their number is bounded, and no call begins after its deadline. */
export class RemoteCalls {
  readonly #maxCalls: number;
  readonly #within: (timeoutMs: number) => RemoteGateway;
  readonly #figures = { open: 0, refused: 0, late: 0 };

  /** @param within returns the gateway for calls that must settle within this time */
  constructor({ maxCalls }: RemoteCallOptions, within: (timeoutMs: number) => RemoteGateway) {
    this.#maxCalls = maxCalls;
    this.#within = within;
  }

  /**
   * Executes a call; errors of the gateway are part of the outcome.
   *
   * @throws {GatewayError} when the call is not executed
   */
  async run(deadline: Deadline, call: (gateway: RemoteGateway) => Promise<unknown>): Promise<Outcome> {
    const figures = this.#figures;
    if (isOver(deadline)) {
      figures.late += 1;
      throw new GatewayError("GATEWAY_LATE", "The deadline of the call passed before it began");
    }
    if (figures.open >= this.#maxCalls) {
      figures.refused += 1;
      throw new GatewayError(
        "GATEWAY_FULL",
        `${this.#maxCalls} calls of other machines are open; retry in a moment`,
      );
    }
    figures.open += 1;
    try {
      return { value: (await call(this.#within(remainingMs(deadline)))) ?? null };
    } catch (error) {
      return { error: toFailure(error) };
    } finally {
      figures.open -= 1;
    }
  }

  figures(): RemoteCallFigures {
    return { ...this.#figures };
  }
}
