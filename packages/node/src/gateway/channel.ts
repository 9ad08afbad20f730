/** The gateway over a message channel: calls in one direction, results in the other, matched by number. */
import type { MessagePort } from "node:worker_threads";
import {
  CallError,
  type CallFigures,
  type Deadline,
  isOver,
  type OpenCalls,
} from "../platform/threads/call.ts";
import { inOneStep, TimeSlices } from "../platform/threads/time-slices.ts";
import {
  Caller,
  type CallOptions,
  DEFAULT_CALL_OPTIONS,
  type Failure,
  type Method,
  toError,
  toFailure,
} from "./caller.ts";
import { type Gateway, REMOTE_METHODS } from "./gateway.ts";

type Call = {
  readonly number: number;
  readonly method: Method;
  readonly parameters: readonly unknown[];
  /** A call that has not started by then is not executed. */
  readonly deadline: Deadline;
};

type Reply =
  | { readonly number: number; readonly value: unknown }
  | { readonly number: number; readonly error: Failure }
  /** A call could not be read; its number is unknown. */
  | { readonly isCallLost: true };

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
    try {
      reply({ number, value: await Reflect.apply(gateway[method], gateway, parameters) });
    } catch (error) {
      reply({ number, error: toFailure(error) });
    }
  }
  // Without slices, the event loop would handle all received messages before anything else.
  const slices = new TimeSlices({ sliceMs: SLICE_MS });
  port.on("message", (call: Call) => void slices.run(inOneStep(() => void handle(call))));
  port.on("messageerror", () => reply({ isCallLost: true }));
}

const LATE: Failure = { code: "CALL_TIMEOUT", message: "the call arrived after its deadline" };

const METHODS = [...REMOTE_METHODS, "figures", "webhooksChanged", "streamsChanged"] as const;

/** Sends the calls of its gateways through a port. Calls can also reject with a `CallError`. */
export class ChannelGateway {
  /** Its calls have the default timeouts. */
  readonly gateway: Gateway;
  readonly #caller: Caller;
  #isClosed = false;

  constructor(port: MessagePort, options: CallOptions = DEFAULT_CALL_OPTIONS) {
    this.#caller = new Caller(options, ({ number, method, parameters, deadline }) => {
      if (this.#isClosed) throw closed();
      port.postMessage({ number, method, parameters, deadline } satisfies Call);
    });
    this.gateway = this.within();
    const { calls } = this.#caller;
    receiveReplies(port, calls);
    port.on("close", () => {
      this.#isClosed = true;
      calls.rejectAll(closed());
    });
  }

  /** Returns a gateway whose calls have at most this time. */
  within(timeoutMs?: number): Gateway {
    return this.#caller.methods(METHODS, timeoutMs);
  }

  /** Returns figures about the calls. */
  figures(): CallFigures {
    return this.#caller.calls.figures();
  }
}

/** Settles calls by the replies that arrive. */
function receiveReplies(port: MessagePort, calls: OpenCalls<unknown>): void {
  const loseAll = () =>
    calls.rejectAll(new CallError("CALL_LOST", "failed to read a message of the other thread"));
  function settle(reply: Reply): void {
    if ("isCallLost" in reply) loseAll();
    else if ("error" in reply) calls.reject(reply.number, toError(reply.error));
    else calls.resolve(reply.number, reply.value);
  }
  port.on("message", (replies: readonly Reply[]) => replies.forEach(settle));
  port.on("messageerror", loseAll);
}

const closed = () => new CallError("CALL_CLOSED", "the other thread has stopped");

/**
 * Combines consecutive messages into one: sending and receiving a message costs more than its content.
 *
 * @param post sends messages in order; it throws when one of them cannot be copied
 * @param onUnsendable called with each message that cannot be copied; the others are sent
 * @returns a function that queues a message, which is sent before the event loop continues with anything else
 */
export function gatherMessages<Message>(
  post: (messages: readonly Message[]) => void,
  onUnsendable: (message: Message, error: unknown) => void,
): (message: Message) => void {
  let gathered: Message[] = [];

  function send(): void {
    const messages = gathered;
    gathered = [];
    try {
      post(messages);
    } catch {
      for (const message of messages) sendAlone(message);
    }
  }

  function sendAlone(message: Message): void {
    try {
      post([message]);
    } catch (error) {
      onUnsendable(message, error);
    }
  }

  return (message) => {
    gathered.push(message);
    // Runs after the promises that are already settled.
    if (gathered.length === 1) process.nextTick(send);
  };
}
