/**
 * Calls that are made together, before the next microtask, share one call of `work`. It begins after all of them, and so
 * after what each caller has written.
 */
export function oncePerTick(work: () => Promise<void>): () => Promise<void> {
  let next: Promise<void> | undefined;
  return () => {
    next ??= Promise.resolve().then(() => {
      next = undefined;
      return work();
    });
    return next;
  };
}
