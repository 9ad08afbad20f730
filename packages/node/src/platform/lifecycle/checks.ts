/** Checks at an interval while there is something to check, so that an idle thread is not woken. */

export type Checks = {
  /** Announces something to check: the next check runs after one interval, unless it is scheduled already. */
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
