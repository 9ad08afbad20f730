/** Keeps requests of the same sender in the order in which they came, while those of other senders pass. */

export type SenderOrder = {
  /** Enters a request with its senders, after all that entered before. */
  enter(senders: ReadonlySet<string>): Place;
};

export type Place = {
  /** Resolves when every earlier request of one of the senders has left. */
  readonly isNext: Promise<void>;
  leave(): void;
};

export function createSenderOrder(): SenderOrder {
  /** By sender, the request that entered last and has not left. */
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
          // One that fails early leaves the order of the others as it is.
          void isNext.then(resolve);
        },
      };
    },
  };
}
