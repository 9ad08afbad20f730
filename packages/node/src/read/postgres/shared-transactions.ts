/**
 * Transactions that several snapshots share: a snapshot that begins before the transaction has read its head joins it.
 * Beginning and ending a transaction costs the client more than a simple read. Statements of one transaction run one
 * after the other, so that a slow read delays the others by up to the time limit of a statement.
 */

/** Runs `work` in a transaction, which lasts until all works that share it have settled. */
export type SharedTransactions<Opened> = <T>(work: (opened: Opened) => Promise<T>) => Promise<T>;

type Group<Opened> = { readonly opened: Promise<Opened>; members: number; readonly end: () => void };

/**
 * @param max maximum number of snapshots that share a transaction
 * @param run runs a transaction, which lasts until its work settles
 */
export function createSharedTransactions<Opened>(
  max: number,
  run: (work: (opened: Opened) => Promise<void>) => Promise<void>,
): SharedTransactions<Opened> {
  let joinable: Group<Opened> | undefined;

  function open(): Group<Opened> {
    const opened = Promise.withResolvers<Opened>();
    const ended = Promise.withResolvers<void>();
    const group: Group<Opened> = { opened: opened.promise, members: 0, end: ended.resolve };
    const close = () => {
      if (joinable === group) joinable = undefined;
    };
    joinable = group;
    run((transaction) => {
      close();
      opened.resolve(transaction);
      return ended.promise;
    }).catch((error: unknown) => {
      close();
      opened.reject(error);
    });
    return group;
  }

  return async (work) => {
    const group = joinable && joinable.members < max ? joinable : open();
    group.members++;
    try {
      return await work(await group.opened);
    } finally {
      group.members--;
      if (group.members === 0) group.end();
    }
  };
}
