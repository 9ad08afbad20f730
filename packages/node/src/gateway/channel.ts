/** The gateway over a message channel: calls in one direction, results in the other, matched by number. */
import type { MessagePort } from "node:worker_threads";
import { lengthOf } from "../platform/json/size.ts";
import { CallError, type Deadline, deadlineIn, isOver } from "../platform/threads/call.ts";
import { gatherMessages } from "../platform/threads/gathered-messages.ts";
import { type CallFigures, createOpenCalls, type OpenCalls } from "../platform/threads/open-calls.ts";
import { createTimeSlices, inOneStep } from "../platform/threads/time-slices.ts";
import { BodyError, type Gateway } from "./gateway.ts";
import { createSendWindow, type SendWindow } from "./send-window.ts";

type Call = {
  readonly number: number;
  readonly method: keyof Gateway;
  readonly parameters: unknown[];
  /** A call that has not started by then is not executed. */
  readonly deadline: Deadline;
};

type Failure = { readonly code: string | undefined; readonly message: string };
type Reply =
  | { readonly number: number; readonly value: unknown }
  | { readonly number: number; readonly error: Failure }
  /** A call could not be read; its number is unknown. */
  | { readonly isCallLost: true };

export type ChannelOptions = {
  readonly timeoutsMs: Readonly<Record<keyof Gateway, number>>;
  /** Maximum of open calls. */
  readonly maxCalls: number;
  /** Maximum of characters in the parameters of all open calls; a single call may exceed it. */
  readonly maxLength: number;
  /** Maximum of characters in the submissions that are on their way; a single one may exceed it. The others wait for their turn. */
  readonly windowLength: number;
};

/**
 * Slightly less than the response timeout of the HTTP server (`http/server/server.ts`): a later result would
 * be useless.
 */
const CALL_TIMEOUT_MS = 7_500;
const DEV_TIMEOUT_MS = 27_500;

export const DEFAULT_CHANNEL_OPTIONS: ChannelOptions = {
  timeoutsMs: {
    submit: CALL_TIMEOUT_MS,
    pendingTransactions: CALL_TIMEOUT_MS,
    pendingTransaction: CALL_TIMEOUT_MS,
    status: CALL_TIMEOUT_MS,
    peers: CALL_TIMEOUT_MS,
    figures: CALL_TIMEOUT_MS,
    report: CALL_TIMEOUT_MS,
    webhooksChanged: CALL_TIMEOUT_MS,
    streamsChanged: CALL_TIMEOUT_MS,
    dev: DEV_TIMEOUT_MS,
  },
  maxCalls: 1_000,
  maxLength: 16 * 1024 * 1024,
  // Costs a few milliseconds to read.
  windowLength: 256 * 1024,
};

/** Duration of a slice of calls, including the last call that begins in it. */
const SLICE_MS = 10;

/** Executes the calls that arrive at the port, and sends exactly one value or error for each. */
export function serveCalls(port: MessagePort, gateway: Gateway): void {
  // A commit of the pool settles many calls.
  const reply = gatherMessages<Reply>(
    (replies) => port.postMessage(replies),
    (unsendable, error) => {
      if ("number" in unsendable) reply({ number: unsendable.number, error: toFailure(error) });
    },
  );
  async function handle({ number, method, parameters, deadline }: Call): Promise<void> {
    if (isOver(deadline)) return reply({ number, error: LATE });
    const call = gateway[method] as (...parameters: unknown[]) => Promise<unknown>;
    try {
      reply({ number, value: await call(...parameters) });
    } catch (error) {
      reply({ number, error: toFailure(error) });
    }
  }
  // The event loop reads all messages that have arrived before it does anything else.
  const slices = createTimeSlices({ sliceMs: SLICE_MS });
  port.on("message", (call: Call) => void slices.run(inOneStep(() => void handle(call))));
  port.on("messageerror", () => reply({ isCallLost: true }));
}

const LATE: Failure = { code: "CALL_TIMEOUT", message: "the call arrived after its deadline" };

/** Bound of the messages of errors: some quote the input. */
const MAX_MESSAGE_LENGTH = 1_000;

/** Code and message of a thrown value. */
function toFailure(thrown: unknown): Failure {
  if (!(thrown instanceof Error))
    return { code: undefined, message: `a value of type ${typeof thrown} was thrown` };
  const { code } = thrown as { code?: unknown };
  return {
    code: typeof code === "string" ? code : undefined,
    message: String(thrown.message).slice(0, MAX_MESSAGE_LENGTH),
  };
}

/** The calling end of a channel. */
type Caller = {
  readonly port: MessagePort;
  readonly timeoutsMs: ChannelOptions["timeoutsMs"];
  readonly window: SendWindow;
  readonly calls: OpenCalls<unknown>;
  isClosed: boolean;
};

/** A gateway that sends its calls through the port, with figures about them. Calls can also reject with a `CallError`. */
export function gatewayThrough(
  port: MessagePort,
  { timeoutsMs, windowLength, ...limits }: ChannelOptions = DEFAULT_CHANNEL_OPTIONS,
): { readonly gateway: Gateway; readonly figures: () => CallFigures } {
  const window = createSendWindow(windowLength);
  const calls = createOpenCalls<unknown>({ ...limits, onEnd: window.end });
  const caller: Caller = { port, timeoutsMs, window, calls, isClosed: false };
  receiveReplies(caller);
  const method =
    <M extends keyof Gateway>(name: M) =>
    (...parameters: Parameters<Gateway[M]>) =>
      call(caller, name, parameters) as ReturnType<Gateway[M]>;

  return {
    gateway: {
      submit: (transactions, source = "") =>
        call(caller, "submit", [transactions], source) as ReturnType<Gateway["submit"]>,
      pendingTransactions: method("pendingTransactions"),
      pendingTransaction: method("pendingTransaction"),
      status: method("status"),
      peers: method("peers"),
      figures: method("figures"),
      report: method("report"),
      webhooksChanged: method("webhooksChanged"),
      streamsChanged: method("streamsChanged"),
      dev: method("dev"),
    },
    figures: calls.figures,
  };
}

/** Settles calls by the replies that arrive, and rejects all of them when the channel fails or closes. */
function receiveReplies(caller: Caller): void {
  const { port, calls } = caller;
  const loseAll = () =>
    calls.rejectAll(new CallError("CALL_LOST", "failed to read a message of the other thread"));
  function settle(reply: Reply): void {
    if ("isCallLost" in reply) loseAll();
    else if ("error" in reply) calls.reject(reply.number, revive(reply.error));
    else calls.resolve(reply.number, reply.value);
  }
  port.on("message", (replies: readonly Reply[]) => replies.forEach(settle));
  port.on("messageerror", loseAll);
  port.on("close", () => {
    caller.isClosed = true;
    calls.rejectAll(closed());
  });
}

/** @param source the call waits for the turn of its source, if one is given */
async function call(
  { port, timeoutsMs, window, calls, isClosed }: Caller,
  method: keyof Gateway,
  parameters: unknown[],
  source?: string,
): Promise<unknown> {
  if (isClosed) throw closed();
  const timeoutMs = timeoutsMs[method];
  const deadline = deadlineIn(timeoutMs);
  const length = lengthOf(parameters);
  const post = (number: number) => port.postMessage({ number, method, parameters, deadline } satisfies Call);
  const postInTime = (number: number) => {
    try {
      if (isOver(deadline))
        throw new CallError("CALL_TIMEOUT", "the deadline passed before the call was sent");
      post(number);
    } catch (error) {
      calls.reject(number, error as Error);
    }
  };
  const result = calls.begin({
    timeoutMs,
    length,
    send: (number) => {
      if (source === undefined) post(number);
      else window.add({ number, source, length, send: () => postInTime(number) });
    },
  });
  if (!result) throw new CallError("CALL_REFUSED", "too many calls to the other thread are in progress");
  return result;
}

const closed = () => new CallError("CALL_CLOSED", "the other thread has stopped");

function revive({ code, message }: Failure): Error {
  if (code === "BODY_SCHEMA") return new BodyError(message);
  return Object.assign(new Error(message), { code });
}
