/** Keeps the requests of each sender in order; requests of different senders do not wait for each other. */

export type SenderOrder = {
  /** Enters a request with its senders, after all that entered before. */
  enter(senders: ReadonlySet<string>): Place;
};

export type Place = {
  /** Resolves when every earlier request of one of the senders has finished. */
  readonly isNext: Promise<void>;
  leave(): void;
};

export function createSenderOrder(): SenderOrder {
  /** The last unfinished request of each sender. */
  const last = new Map<string, Promise<void>>();
  return {
    enter(senders) {
      const { promise: left, resolve } = Promise.withResolvers<void>();
      const earlier = [...senders].flatMap((sender) => last.get(sender) ?? []);
      const isNext = Promise.all(earlier).then(() => {});
      for (const sender of senders) last.set(sender, left);
      return {
        isNext,
        leave() {
          for (const sender of senders) if (last.get(sender) === left) last.delete(sender);
          // A request that fails early does not change the order of the others.
          void isNext.then(resolve);
        },
      };
    },
  };
}
