/** Signals that stop the process. */

/**
 * Resolves with the first interrupt or termination signal. A second one ends the process at once: no committed data is
 * lost, because every commit is on disk.
 *
 * @param others further signals that stop the process
 */
export function stopSignal(...others: NodeJS.Signals[]): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isFirst = true;
    const onSignal = (signal: NodeJS.Signals) => {
      if (!isFirst) process.exit(signal === "SIGINT" ? 130 : 143);
      isFirst = false;
      resolve(signal);
    };
    for (const signal of ["SIGINT", "SIGTERM", ...others]) process.on(signal, onSignal);
  });
}
