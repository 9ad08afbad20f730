/** How the process is asked to stop. */

/**
 * Settles with the first interrupt or termination signal. A second one ends the process at once: nothing is lost
 * by that, because what is committed is on disk.
 *
 * @param others signals that mean the same here
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
