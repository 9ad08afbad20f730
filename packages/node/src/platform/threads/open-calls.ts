/** Calls to another thread that wait for their answers: bounded, each with a deadline, released whatever happens. */
import { CallError } from "./error.ts";

export type CallFigures = {
  /** Given to the other thread and not answered by it, those among them for whose answers nothing waits any more. */
  readonly open: number;
  /** Since the process started. */
  readonly timedOut: number;
  readonly refused: number;
};

export type OpenCallsOptions = {
  readonly maxCalls: number;
  /** Characters in the parameters of all of them, where there is more than one. Absent: not counted. */
  readonly maxLength?: number;
  /** A call was not answered in time; its answer may still come. */
  readonly onTimeout?: () => void;
};

export type NewCall = {
  /** Gives the call to the other thread. */
  readonly send: (number: number) => void;
  readonly timeoutMs: number;
  /** Characters in its parameters. */
  readonly length?: number;
};

export type OpenCalls<T> = {
  /**
   * The answer; undefined where as many calls as may be are under way. Rejects with a `CallError`, with what `send`
   * throws, or with what the other thread says is wrong.
   */
  begin(call: NewCall): Promise<T> | undefined;
  /** The answer of a call; a late one, or one to a call that is not known, is dropped. */
  resolve(number: number, value: T): void;
  reject(number: number, error: Error): void;
  /** Ends all of them: none will be answered. */
  rejectAll(error: Error): void;
  figures(): CallFigures;
};

type Entry<T> = {
  readonly length: number;
  readonly answer: PromiseWithResolvers<T>;
  readonly timer: NodeJS.Timeout;
};

export function createOpenCalls<T>(options: OpenCallsOptions): OpenCalls<T> {
  const { maxCalls, maxLength = Number.POSITIVE_INFINITY, onTimeout } = options;
  /** Those that are late keep their place: the other thread still has their messages. */
  const open = new Map<number, Entry<T>>();
  let openLength = 0;
  let last = 0;
  let timedOut = 0;
  let refused = 0;

  function add(timeoutMs: number, length: number): readonly [number, Promise<T>] {
    const answer = Promise.withResolvers<T>();
    const timer = setTimeout(() => {
      timedOut += 1;
      answer.reject(new CallError("CALL_TIMEOUT", `no answer within ${timeoutMs} ms`));
      onTimeout?.();
    }, timeoutMs);
    last += 1;
    open.set(last, { length, answer, timer });
    openLength += length;
    return [last, answer.promise];
  }

  function end(number: number): Entry<T>["answer"] | undefined {
    const entry = open.get(number);
    if (!entry) return undefined;
    open.delete(number);
    openLength -= entry.length;
    clearTimeout(entry.timer);
    return entry.answer;
  }

  return {
    begin({ send, timeoutMs, length = 0 }) {
      if (open.size >= maxCalls || (open.size > 0 && openLength + length > maxLength)) {
        refused += 1;
        return undefined;
      }
      const [number, answer] = add(timeoutMs, length);
      try {
        send(number);
      } catch (error) {
        end(number)?.reject(error);
      }
      return answer;
    },
    resolve: (number, value) => end(number)?.resolve(value),
    reject: (number, error) => end(number)?.reject(error),
    rejectAll(error) {
      for (const number of [...open.keys()]) end(number)?.reject(error);
    },
    figures: () => ({ open: open.size, timedOut, refused }),
  };
}
