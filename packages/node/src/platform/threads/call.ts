/** Calls to another thread or process: their deadlines and errors, and the open calls, whose number is bounded. */
import { CodedError } from "../coded-error.ts";

const CODES = [
  /** Too many calls are open. */
  "CALL_REFUSED",
  /** No result arrived before the deadline. */
  "CALL_TIMEOUT",
  /** The result was lost: a message or a response could not be read. The call may have been executed. */
  "CALL_LOST",
  /** The other side has ended or was closed. */
  "CALL_CLOSED",
  /** No process that can execute the call responds. */
  "CALL_UNREACHABLE",
] as const;

export type CallErrorCode = (typeof CODES)[number];

export const isCallErrorCode = (code: unknown): code is CallErrorCode => CODES.some((each) => each === code);

/** A call to another thread or process failed; a later call may succeed. */
export class CallError extends CodedError<CallErrorCode> {
  constructor(code: CallErrorCode, message: string) {
    super(code, message, { isRetryable: true });
  }
}

/** Milliseconds of the monotonic clock, which is the same in every thread. */
export type Deadline = number;

const NANOSECONDS_PER_MS = 1_000_000n;

const nowMs = (): number => Number(process.hrtime.bigint() / NANOSECONDS_PER_MS);

export const deadlineIn = (timeoutMs: number): Deadline => nowMs() + timeoutMs;
export const isOver = (deadline: Deadline): boolean => nowMs() > deadline;
/** Returns the milliseconds until the deadline; 0 after it. */
export const remainingMs = (deadline: Deadline): number => Math.max(0, deadline - nowMs());

export type CallFigures = {
  /** Calls without a result, including calls that have timed out. */
  readonly open: number;
  /** Calls that timed out since the process started. */
  readonly timedOut: number;
  readonly refused: number;
};

export type OpenCallsOptions = {
  readonly maxCalls: number;
  /** Maximum of characters in the parameters of all open calls; a single call may exceed it. Absent: no limit. */
  readonly maxLength?: number;
  /** Called when a call times out; its result may still arrive. */
  readonly onTimeout?: () => void;
  /** Called with the number of each call that has ended; the other thread no longer holds its message. */
  readonly onEnd?: (number: number) => void;
};

type NewCall = {
  /** Sends the call to the other thread. */
  readonly send: (number: number) => void;
  readonly timeoutMs: number;
  /** Characters in its parameters. */
  readonly length?: number;
};

type Entry<T> = {
  readonly length: number;
  readonly result: PromiseWithResolvers<T>;
  readonly timer: NodeJS.Timeout;
};

export class OpenCalls<T> {
  readonly #options: OpenCallsOptions;
  /** Calls that have timed out still count: the other thread still holds their messages. */
  readonly #open = new Map<number, Entry<T>>();
  #openLength = 0;
  #last = 0;
  #timedOut = 0;
  #refused = 0;

  constructor(options: OpenCallsOptions) {
    this.#options = options;
  }

  /**
   * Sends a call and resolves to its result; to undefined if too many calls are open. Rejects with a
   * `CallError`, with the error that `send` throws, or with the error that the other thread reports.
   */
  begin({ send, timeoutMs, length = 0 }: NewCall): Promise<T> | undefined {
    const { maxCalls, maxLength = Number.POSITIVE_INFINITY } = this.#options;
    const { size } = this.#open;
    if (size >= maxCalls || (size > 0 && this.#openLength + length > maxLength)) {
      this.#refused += 1;
      return undefined;
    }
    const [number, result] = this.#add(timeoutMs, length);
    try {
      send(number);
    } catch (error) {
      this.reject(number, error);
    }
    return result;
  }

  /** Settles a call. Late results and results of unknown calls are ignored. */
  resolve(number: number, value: T): void {
    this.#end(number)?.resolve(value);
  }

  reject(number: number, error: unknown): void {
    this.#end(number)?.reject(error);
  }

  /** Rejects all open calls. */
  rejectAll(error: Error): void {
    for (const number of [...this.#open.keys()]) this.reject(number, error);
  }

  figures(): CallFigures {
    return { open: this.#open.size, timedOut: this.#timedOut, refused: this.#refused };
  }

  #add(timeoutMs: number, length: number): readonly [number, Promise<T>] {
    const result = Promise.withResolvers<T>();
    const timer = setTimeout(() => {
      this.#timedOut += 1;
      result.reject(new CallError("CALL_TIMEOUT", `timeout: no result within ${timeoutMs} ms`));
      this.#options.onTimeout?.();
    }, timeoutMs);
    this.#last += 1;
    this.#open.set(this.#last, { length, result, timer });
    this.#openLength += length;
    return [this.#last, result.promise];
  }

  #end(number: number): Entry<T>["result"] | undefined {
    const entry = this.#open.get(number);
    if (!entry) return undefined;
    this.#open.delete(number);
    this.#openLength -= entry.length;
    clearTimeout(entry.timer);
    this.#options.onEnd?.(number);
    return entry.result;
  }
}
