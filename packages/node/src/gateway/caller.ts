/**
 * Calling side of the gateway, for every transport. The number of calls is bounded, each call has a deadline, and
 * sources take turns with their submissions. Errors cross a transport as code and message, because classes do not survive it.
 */

import { CodedError } from "../platform/coded-error.ts";
import { lengthOf } from "../platform/json/external.ts";
import { shortened, withoutControls } from "../platform/text/foreign.ts";
import {
  CallError,
  type Deadline,
  deadlineIn,
  isCallErrorCode,
  isOver,
  OpenCalls,
} from "../platform/threads/call.ts";
import { BodyError, type Gateway } from "./gateway.ts";

export type Method = keyof Gateway;

export type CallOptions = {
  readonly timeoutsMs: Readonly<Record<Method, number>>;
  /** Maximum number of open calls. */
  readonly maxCalls: number;
  /** Maximum number of characters in the parameters of all open calls; a single call may exceed it. */
  readonly maxLength: number;
  /**
   * Maximum number of characters in the submissions in transit; a single submission may exceed it. Others wait for
   * their turn.
   */
  readonly windowLength: number;
};

/** Slightly less than the response timeout of the HTTP server (`http/server/server.ts`), after which a result is useless. */
const CALL_TIMEOUT_MS = 7_500;
const DEV_TIMEOUT_MS = 27_500;

export const DEFAULT_CALL_OPTIONS: CallOptions = {
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
    replaceRemoteNames: CALL_TIMEOUT_MS,
    dev: DEV_TIMEOUT_MS,
  },
  maxCalls: 1_000,
  maxLength: 16 * 1024 * 1024,
  // Reading them costs a few milliseconds.
  windowLength: 256 * 1024,
};

/** A call to be sent; `calls` expects its result or error by its number. */
export type NewCall = {
  readonly number: number;
  readonly method: Method;
  readonly parameters: readonly unknown[];
  /** A call that has not started by then is not executed. */
  readonly deadline: Deadline;
  /** Source that caused a submission. */
  readonly source?: string;
};

export class Caller {
  readonly calls: OpenCalls<unknown>;
  readonly #timeoutsMs: CallOptions["timeoutsMs"];
  readonly #send: (call: NewCall) => void;
  readonly #window: SendWindow;

  /** @param send sends a call; an error that it throws ends the call */
  constructor({ timeoutsMs, windowLength, ...limits }: CallOptions, send: (call: NewCall) => void) {
    this.#timeoutsMs = timeoutsMs;
    this.#send = send;
    this.#window = new SendWindow(windowLength);
    this.calls = new OpenCalls<unknown>({ ...limits, onEnd: (number) => this.#window.end(number) });
  }

  /** Returns methods of the gateway. Their calls also reject with a `CallError`; submissions wait for the turn of their source. */
  methods<M extends Method>(names: readonly M[], maxMs = Number.POSITIVE_INFINITY): Pick<Gateway, M> {
    const submit = (transactions: unknown[], source = "") =>
      this.#call("submit", [transactions], maxMs, source);
    const methodOf = (name: Method) =>
      name === "submit" ? submit : (...parameters: unknown[]) => this.#call(name, parameters, maxMs);
    return Object.fromEntries(names.map((name) => [name, methodOf(name)])) as unknown as Pick<Gateway, M>;
  }

  async #call(method: Method, parameters: unknown[], maxMs: number, source?: string) {
    const timeoutMs = Math.min(this.#timeoutsMs[method], maxMs);
    const deadline = deadlineIn(timeoutMs);
    const length = lengthOf(parameters);
    const sendInTime = (number: number, source: string) => {
      try {
        if (isOver(deadline))
          throw new CallError("CALL_TIMEOUT", "the deadline passed before the call was sent");
        this.#send({ number, method, parameters, deadline, source });
      } catch (error) {
        this.calls.reject(number, error as Error);
      }
    };
    const result = this.calls.begin({
      timeoutMs,
      length,
      send: (number) => {
        if (source === undefined) this.#send({ number, method, parameters, deadline });
        else this.#window.add({ number, source, length, send: () => sendInTime(number, source) });
      },
    });
    if (!result) throw new CallError("CALL_REFUSED", "too many calls to the node are in progress");
    return result;
  }
}

type WindowedCall = {
  readonly number: number;
  /** Source that caused the call. */
  readonly source: string;
  /** Characters in its parameters. */
  readonly length: number;
  readonly send: () => void;
};

/**
 * Limits the calls in transit to another thread, and sends one call of each source in turn: the thread never has much to read,
 * and a source with many calls does not delay the others.
 */
export class SendWindow {
  readonly #maxLength: number;
  /** Waiting calls by source, in the order of the turns. */
  readonly #waiting = new Map<string, WindowedCall[]>();
  /** Lengths of the calls in transit, by number. */
  readonly #sent = new Map<number, number>();
  #sentLength = 0;

  /** @param maxLength maximum number of characters of all calls in transit; a single call may exceed it */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** Sends a call, at once or in the turn of its source. */
  add(call: WindowedCall): void {
    const calls = this.#waiting.get(call.source);
    if (calls) calls.push(call);
    else this.#waiting.set(call.source, [call]);
    this.#sendNext();
  }

  /** Marks a call as ended, whether it was sent or not. Other numbers are ignored. */
  end(number: number): void {
    const length = this.#sent.get(number);
    if (length === undefined) {
      this.#drop(number);
      return;
    }
    this.#sent.delete(number);
    this.#sentLength -= length;
    this.#sendNext();
  }

  #sendNext(): void {
    for (const [source, calls] of this.#waiting) {
      const [call] = calls;
      const isFull = call && this.#sent.size > 0 && this.#sentLength + call.length > this.#maxLength;
      if (!call || isFull) return;
      calls.shift();
      // Moves the source to the end.
      this.#waiting.delete(source);
      if (calls.length > 0) this.#waiting.set(source, calls);
      this.#sent.set(call.number, call.length);
      this.#sentLength += call.length;
      call.send();
    }
  }

  #drop(number: number): void {
    for (const [source, calls] of this.#waiting) {
      const kept = calls.filter((call) => call.number !== number);
      if (kept.length === calls.length) continue;
      if (kept.length > 0) this.#waiting.set(source, kept);
      else this.#waiting.delete(source);
      return;
    }
  }
}

export type Failure = { readonly code?: string; readonly message: string };

/** Maximum length of an error message; some quote the input. */
const MAX_MESSAGE_LENGTH = 1_000;

/** Returns code and message of a thrown value. */
export function toFailure(thrown: unknown): Failure {
  if (!(thrown instanceof Error)) return { message: `a value of type ${typeof thrown} was thrown` };
  const { code } = thrown as { code?: unknown };
  return {
    ...(typeof code === "string" && { code }),
    message: String(thrown.message).slice(0, MAX_MESSAGE_LENGTH),
  };
}

/** Returns an error with code and message of a failure. Restores the two classes for which callers of the gateway test. */
export function toError({ code, message }: Failure): Error {
  if (code === "BODY_SCHEMA") return new BodyError(message);
  if (isCallErrorCode(code)) return new CallError(code, message);
  return Object.assign(new Error(message), { code });
}

type GatewayErrorCode =
  /** Too many calls from other machines are open; retry in a moment. */
  | "GATEWAY_FULL"
  /** The deadline of the call passed before it began. */
  | "GATEWAY_LATE";

/** Refusal of a call from another machine: the call was not executed. */
export class GatewayError extends CodedError<GatewayErrorCode> {
  constructor(code: GatewayErrorCode, message: string) {
    super(code, message, { isRetryable: true });
  }
}

/** Next steps of an operator whose mirror or API server is refused by a node, by the status of the response. */
export const REFUSAL_STEPS: Readonly<Record<number, string>> = {
  401: 'give the webhook token of the node with --token ("uniknode token" prints it)',
  403: "add the address of this machine to --feed-allow of the node",
  404: "start the node with --feed-blocks",
};

const MAX_REASON_CHARACTERS = 300;

/** Returns the beginning and the end of a text of a node, without control characters. */
export const shown = (text: string): string => shortened(withoutControls(text), MAX_REASON_CHARACTERS);

/** Returns the reason of a refused request: the response, and the next step for its status if there is one. */
export function refusalReason(url: string, status: number, text: string, steps = REFUSAL_STEPS): string {
  const step = steps[status];
  return `${url} responded ${status}: ${shown(text)}${step === undefined ? "" : `; ${step}`}`;
}
