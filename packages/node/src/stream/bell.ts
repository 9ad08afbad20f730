/** Tells everybody who waits that there may be something new. */
export type Bell = {
  ring(): void;
  /** Settles with the next ring. */
  heard(): Promise<void>;
};

export function createBell(): Bell {
  let next = Promise.withResolvers<void>();
  return {
    ring() {
      next.resolve();
      next = Promise.withResolvers();
    },
    heard: () => next.promise,
  };
}
