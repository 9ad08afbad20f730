/**
 * Calls that are made together, in one turn of the microtasks, are one call of `work`. It begins after all of them: what
 * each has written before its call, `work` sees.
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
