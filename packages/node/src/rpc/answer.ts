/** JSON-RPC 2.0: processes a body with one call or a batch. */
import { setImmediate } from "node:timers/promises";
import { ApiError } from "@uniknode/client";
import { BODY_COMPLEXITY, type Complexity, exceededBound } from "../platform/json/complexity.ts";
import { internalError, invalidRequest, noJson, ofStatus, RpcError, unknownMethod } from "./error.ts";
import type { Method, RpcContext } from "./method.ts";
import { createPlaces } from "./places.ts";

export type RpcAnswer = { readonly jsonrpc: "2.0"; readonly id: number | string | null } & (
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: string } }
);

const MAX_CALLS = 100;
const REFUSALS: Readonly<Record<keyof Complexity, string>> = {
  maxDepth: `nested deeper than ${BODY_COMPLEXITY.maxDepth} levels`,
  maxValues: `more than ${BODY_COMPLEXITY.maxValues} members and items`,
};

/** Timeout for all calls of a body. */
const MAX_ANSWER_MS = 15_000;
/** Concurrent batches and single calls have separate limits: batches never block single calls. */
const LISTS = { total: 8, perClient: 4 };
const SINGLE_CALLS = { total: 128, perClient: 64 };

/** `address` of the caller. */
export type Answerer = (body: string, address: string) => Promise<RpcAnswer | RpcAnswer[]>;

/** Calls of a batch run in sequence: two transactions of one wallet get consecutive nonces. */
export function createAnswerer(
  methods: Readonly<Record<string, Method>>,
  open: (signal: AbortSignal) => RpcContext,
  onFailure: (method: string, error: unknown) => void,
  maxAnswerMs = MAX_ANSWER_MS,
): Answerer {
  const lists = createPlaces(LISTS);
  const singleCalls = createPlaces(SINGLE_CALLS);

  return async (body, address) => {
    const exceeded = exceededBound(body, BODY_COMPLEXITY);
    if (exceeded) return failed(null, invalidRequest(REFUSALS[exceeded]));
    let calls: unknown;
    try {
      calls = JSON.parse(body);
    } catch {
      return failed(null, noJson());
    }
    if (!Array.isArray(calls)) {
      const [only] = await answerAll([calls], singleCalls.take(address));
      return only ?? failed(null, ofStatus(429, "too many calls are in progress; retry later"));
    }
    if (calls.length === 0) return failed(null, invalidRequest("empty batch"));
    if (calls.length > MAX_CALLS) {
      return failed(null, invalidRequest(`more than ${MAX_CALLS} calls`));
    }
    const answers = await answerAll(calls, lists.take(address));
    if (answers.length > 0) return answers;
    return failed(null, ofStatus(429, "too many batches are in progress; retry later"));
  };

  /** @returns no responses when `leave` is undefined: the limit is reached */
  async function answerAll(calls: unknown[], leave: (() => void) | undefined): Promise<RpcAnswer[]> {
    if (!leave) return [];
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(lateError(maxAnswerMs)), maxAnswerMs);
    const answers: RpcAnswer[] = [];
    try {
      const context = open(late.signal);
      for (const call of calls) {
        answers.push(await answer(call, context));
        // Calls of other callers run between two calls that never wait.
        await setImmediate();
      }
      return answers;
    } finally {
      clearTimeout(timer);
      leave();
    }
  }

  async function answer(call: unknown, context: RpcContext): Promise<RpcAnswer> {
    const { jsonrpc, id, method: name, params = {} } = Object(call) as Record<string, unknown>;
    if (typeof id !== "string" && typeof id !== "number") {
      return failed(null, invalidRequest("id: must be a number or a string"));
    }
    if (jsonrpc !== "2.0") return failed(id, invalidRequest('jsonrpc: must be "2.0"'));
    if (typeof name !== "string") return failed(id, invalidRequest("method: must be a string"));
    const run = Object.hasOwn(methods, name) ? methods[name] : undefined;
    if (!run) return failed(id, unknownMethod());
    if (context.signal.aborted) return failed(id, notBegun(maxAnswerMs));
    try {
      return { jsonrpc: "2.0", id, result: await run(params, context) };
    } catch (error) {
      return failed(id, errorOf(name, error));
    }
  }

  function errorOf(method: string, error: unknown): RpcError {
    if (error instanceof RpcError) return error;
    if (error instanceof ApiError && error.status !== undefined && error.status < 500) {
      return ofStatus(error.status, reasonOf(error));
    }
    onFailure(method, error);
    return error instanceof ApiError ? ofStatus(503, reasonOf(error)) : internalError();
  }
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

const failed = (id: number | string | null, { code, message, data }: RpcError): RpcAnswer => ({
  jsonrpc: "2.0",
  id,
  error: { code, message, ...(data !== undefined && { data }) },
});
