/** JSON-RPC 2.0: processes a body with one call or a batch. */
import { setImmediate as nextTick } from "node:timers/promises";
import { ApiError } from "@uniknode/client";
import { BODY_COMPLEXITY, type Complexity, exceededBound } from "../platform/json/complexity.ts";
import { createBodySlots } from "./body-slots.ts";
import type { Method, RpcContext } from "./define-method.ts";
import { internalError, invalidRequest, noJson, ofStatus, RpcError, unknownMethod } from "./error.ts";

export type RpcResponse = { readonly jsonrpc: "2.0"; readonly id: number | string | null } & (
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: string } }
);

const MAX_CALLS = 100;
const REFUSALS: Readonly<Record<keyof Complexity, string>> = {
  maxDepth: `nested deeper than ${BODY_COMPLEXITY.maxDepth} levels`,
  maxValues: `more than ${BODY_COMPLEXITY.maxValues} members and items`,
};

/** Timeout for all calls of a body. */
const TIMEOUT_MS = 15_000;
/** Concurrent batches and single calls have separate limits: batches never block single calls. */
const LISTS = { total: 8, perClient: 4 };
const SINGLE_CALLS = { total: 128, perClient: 64 };

/** `address` of the caller. */
export type BodyHandler = (body: string, address: string) => Promise<RpcResponse | RpcResponse[]>;

type Calls = {
  readonly methods: Readonly<Record<string, Method>>;
  /** Creates the context of the calls of one body. */
  readonly open: (signal: AbortSignal) => RpcContext;
  /** Called with errors that the caller did not cause. */
  readonly onFailure: (method: string, error: unknown) => void;
  readonly timeoutMs: number;
};

/** Calls of a batch run in sequence: two transactions of one wallet get consecutive nonces. */
export function createBodyHandler(
  methods: Calls["methods"],
  open: Calls["open"],
  onFailure: Calls["onFailure"],
  timeoutMs = TIMEOUT_MS,
): BodyHandler {
  const calls: Calls = { methods, open, onFailure, timeoutMs };
  const lists = createBodySlots(LISTS);
  const singleCalls = createBodySlots(SINGLE_CALLS);

  return async (body, address) => {
    const exceeded = exceededBound(body, BODY_COMPLEXITY);
    if (exceeded) return failed(null, invalidRequest(REFUSALS[exceeded]));
    let parsed: unknown;
    try {
      parsed = JSON.parse(body);
    } catch {
      return failed(null, noJson());
    }
    if (!Array.isArray(parsed)) {
      const [only] = await runAll(calls, [parsed], singleCalls.take(address));
      return only ?? failed(null, ofStatus(429, "too many calls are in progress; retry later"));
    }
    if (parsed.length === 0) return failed(null, invalidRequest("empty batch"));
    if (parsed.length > MAX_CALLS) {
      return failed(null, invalidRequest(`more than ${MAX_CALLS} calls`));
    }
    const responses = await runAll(calls, parsed, lists.take(address));
    if (responses.length > 0) return responses;
    return failed(null, ofStatus(429, "too many batches are in progress; retry later"));
  };
}

/** @returns no responses when `leave` is undefined: the limit is reached */
async function runAll(
  calls: Calls,
  requests: unknown[],
  leave: (() => void) | undefined,
): Promise<RpcResponse[]> {
  if (!leave) return [];
  const { open, timeoutMs } = calls;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(lateError(timeoutMs)), timeoutMs);
  const responses: RpcResponse[] = [];
  try {
    const context = open(late.signal);
    for (const request of requests) {
      responses.push(await run(calls, request, context));
      // Calls of other callers run between two calls that never wait.
      await nextTick();
    }
    return responses;
  } finally {
    clearTimeout(timer);
    leave();
  }
}

async function run(calls: Calls, request: unknown, context: RpcContext): Promise<RpcResponse> {
  const { jsonrpc, id, method: name, params = {} } = Object(request) as Record<string, unknown>;
  if (typeof id !== "string" && typeof id !== "number") {
    return failed(null, invalidRequest("id: must be a number or a string"));
  }
  if (jsonrpc !== "2.0") return failed(id, invalidRequest('jsonrpc: must be "2.0"'));
  if (typeof name !== "string") return failed(id, invalidRequest("method: must be a string"));
  const method = Object.hasOwn(calls.methods, name) ? calls.methods[name] : undefined;
  if (!method) return failed(id, unknownMethod());
  if (context.signal.aborted) return failed(id, notBegun(calls.timeoutMs));
  try {
    return { jsonrpc: "2.0", id, result: await method(params, context) };
  } catch (error) {
    return failed(id, errorOf(calls, name, error));
  }
}

function errorOf({ onFailure }: Calls, method: string, error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (error instanceof ApiError && error.status !== undefined && error.status < 500) {
    return ofStatus(error.status, reasonOf(error));
  }
  onFailure(method, error);
  return error instanceof ApiError ? ofStatus(503, reasonOf(error)) : internalError();
}

/** Returns the message of the node, with the time to wait if the node gave one. */
function reasonOf({ message, retryAfterMs }: ApiError): string {
  if (retryAfterMs === undefined) return message;
  return `${message}; retry in ${Math.ceil(retryAfterMs / 1_000)} s`;
}

const lateError = (maxMs: number): RpcError =>
  ofStatus(503, `timeout after ${maxMs / 1_000} s: it is unknown whether the call was executed`);
const notBegun = (maxMs: number): RpcError =>
  ofStatus(503, `not executed: the previous calls of the batch took ${maxMs / 1_000} s`);

const failed = (id: number | string | null, { number, message, data }: RpcError): RpcResponse => ({
  jsonrpc: "2.0",
  id,
  error: { code: number, message, ...(data !== undefined && { data }) },
});
