/** JSON-RPC 2.0: processes a body with one call or a batch. */
import { setImmediate as nextTick } from "node:timers/promises";
import { ApiError } from "@uniknode/client";
import { ClientSlots } from "../platform/client-slots.ts";
import {
  BODY_COMPLEXITY,
  ExternalDataError,
  parseExternal,
  type TextBounds,
} from "../platform/json/external.ts";
import { formOf } from "../platform/json/form.ts";
import { Type } from "../platform/json/schema.ts";
import { faultText, type Method, type RpcContext } from "./define-method.ts";
import { internalError, invalidRequest, noJson, ofStatus, RpcError, unknownMethod } from "./rpc-error.ts";

type RpcResponse = { readonly jsonrpc: "2.0"; readonly id: number | string | null } & (
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: string } }
);

const MAX_CALLS = 100;
/** The server refuses longer bodies before they are read. */
const BODY_BOUNDS: TextBounds = { maxCharacters: 1_048_576, ...BODY_COMPLEXITY };

const CallId = Type.Union([Type.String(), Type.Number()], { description: "a number or a string" });
const CALL_ID = formOf(Type.Object({ id: CallId }));
const CALL = formOf(
  Type.Object({
    id: CallId,
    jsonrpc: Type.Literal("2.0", { description: '"2.0"' }),
    method: Type.String({ description: "a string" }),
    /** Each method checks its own. */
    params: Type.Optional(Type.Unknown()),
  }),
);
const BODY = formOf(
  Type.Union([Type.Array(Type.Unknown(), { minItems: 1, maxItems: MAX_CALLS }), Type.Object({})], {
    description: `a call, or a batch of 1 to ${MAX_CALLS} calls`,
  }),
);

/** Timeout for all calls of a body. */
const TIMEOUT_MS = 15_000;
/** Concurrent batches and single calls have separate limits: batches never block single calls. */
const LISTS = { total: 8, perClient: 4 };
const SINGLE_CALLS = { total: 128, perClient: 64 };

/** `address` of the caller. */
type BodyHandler = (body: string, address: string) => Promise<RpcResponse | RpcResponse[]>;

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
  const lists = new ClientSlots(LISTS);
  const singleCalls = new ClientSlots(SINGLE_CALLS);

  return async (body, address) => {
    let parsed: object;
    try {
      parsed = parseExternal(body, BODY, BODY_BOUNDS);
    } catch (error) {
      return failed(null, bodyError(error));
    }
    if (!Array.isArray(parsed)) {
      const [only] = await runAll(calls, [parsed], singleCalls.take(address));
      return only ?? failed(null, ofStatus(429, "too many calls are in progress; retry later"));
    }
    const responses = await runAll(calls, parsed, lists.take(address));
    if (responses.length > 0) return responses;
    return failed(null, ofStatus(429, "too many batches are in progress; retry later"));
  };
}

function bodyError(error: unknown): RpcError {
  if (!(error instanceof ExternalDataError)) throw error;
  return error.code === "DATA_NOT_JSON" ? noJson() : invalidRequest(error.message);
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
  const context = open(late.signal);
  try {
    for (const request of requests) {
      responses.push(await run(calls, request, context));
      // Calls of other callers run between two calls that never wait.
      await nextTick();
    }
    return responses;
  } finally {
    context.nonces.leave();
    clearTimeout(timer);
    leave();
  }
}

async function run(calls: Calls, request: unknown, context: RpcContext): Promise<RpcResponse> {
  if (!CALL.is(request)) {
    const id = CALL_ID.is(request) ? request.id : null;
    return failed(id, invalidRequest(faultText(CALL.fault(request))));
  }
  const { id, method: name, params = {} } = request;
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
  // A response of 200 that is not of a node, such as that of a proxy, is an error without its status.
  if (error instanceof ApiError && error.status !== undefined && error.status >= 400 && error.status < 500) {
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
