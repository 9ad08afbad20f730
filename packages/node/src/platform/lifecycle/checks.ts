/** Checks at an interval for as long as there is something to check: a thread at rest is not woken. */

export type Checks = {
  /** There is something to check: the next check comes after one interval, unless it was awaited already. */
  begin(): void;
  close(): void;
};

/** @param check returns true if there may be something to check after the next interval */
export function createChecks(check: () => boolean, intervalMs: number): Checks {
  let timer: NodeJS.Timeout | undefined;

  function close(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    begin() {
      timer ??= setInterval(() => {
        if (!check()) close();
      }, intervalMs).unref();
    },
    close,
  };
}
