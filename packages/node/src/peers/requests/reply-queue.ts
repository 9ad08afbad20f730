/** Large answers are made one after another: side by side, each would hold what it has until all are made. */
import { CallError } from "../transport/handler.ts";

export type ReplyQueueOptions = {
  /** Answers to one address that are made or wait to be made. */
  readonly perAddress: number;
};

export type ReplyQueue = {
  /**
   * Makes an answer when those before it are made.
   *
   * @throws {CallError} if too many wait for the address
   */
  take<T>(address: string, make: () => Promise<T>): Promise<T>;
};

export function createReplyQueue({ perAddress }: ReplyQueueOptions): ReplyQueue {
  const counts = new Map<string, number>();
  let last: Promise<unknown> = Promise.resolve();

  function leave(address: string): void {
    const count = counts.get(address)! - 1;
    if (count === 0) counts.delete(address);
    else counts.set(address, count);
  }

  return {
    take(address, make) {
      const count = counts.get(address) ?? 0;
      if (count >= perAddress) throw new CallError("Wait for the answers that are being made.");
      counts.set(address, count + 1);
      const made = last.then(make).finally(() => leave(address));
      last = made.catch(() => {});
      return made;
    },
  };
}
