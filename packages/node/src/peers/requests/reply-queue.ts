/** Queue of large replies, which are built one after another: concurrent ones would all be in memory. */
import { ReplyError } from "../transport/handler.ts";

export type ReplyQueueOptions = {
  /** Replies to one address that are queued or being built. */
  readonly maxPerAddress: number;
};

export type ReplyQueue = {
  /**
   * Builds a reply after the queued ones.
   *
   * @throws {ReplyError} if too many replies to the address are queued
   */
  add<T>(address: string, make: () => Promise<T>): Promise<T>;
};

export function createReplyQueue({ maxPerAddress }: ReplyQueueOptions): ReplyQueue {
  const counts = new Map<string, number>();
  let last: Promise<unknown> = Promise.resolve();

  function release(address: string): void {
    const count = (counts.get(address) ?? 0) - 1;
    if (count > 0) counts.set(address, count);
    else counts.delete(address);
  }

  return {
    add(address, make) {
      const count = counts.get(address) ?? 0;
      if (count >= maxPerAddress) throw new ReplyError("Wait for the replies that are being built.");
      counts.set(address, count + 1);
      const made = last.then(make).finally(() => release(address));
      last = made.catch(() => {});
      return made;
    },
  };
}
