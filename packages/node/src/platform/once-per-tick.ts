/**
 * Coalesces calls before the next microtask into one call of `work`. `work` starts after all of these calls, and so after
 * the writes of each caller.
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
