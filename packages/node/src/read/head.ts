/** The block whose state reads see. */

/** The last committed block. */
export type Head = {
  readonly id: string;
  readonly height: number;
  /** Seconds since the network epoch. */
  readonly timestamp: number;
};

/** Caches a value that depends only on the head: it is computed once per head. */
export function perHead<T>(compute: (head: Head) => T): (head: Head) => T {
  let known: { id: string; value: T } | undefined;
  return (head) => {
    if (known?.id !== head.id) known = { id: head.id, value: compute(head) };
    return known.value;
  };
}

/**
 * Caches a value that is read in a snapshot, once per head. Errors are not cached: a caller that waited for the read of another
 * snapshot, which failed, reads in its own, which may have more time.
 */
export function perSnapshot<S extends { readonly head: Head }, T>(
  compute: (snapshot: S) => Promise<T>,
): (snapshot: S) => Promise<T> {
  let known: { readonly id: string; readonly value: Promise<T> } | undefined;
  return function read(snapshot): Promise<T> {
    const { id } = snapshot.head;
    if (known?.id === id) return known.value.catch(() => read(snapshot));
    const value = compute(snapshot);
    const computed = { id, value };
    known = computed;
    value.catch(() => {
      if (known === computed) known = undefined;
    });
    return value;
  };
}
