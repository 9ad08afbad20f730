/** Searches for new events in the database, and notifies the webhook service of them. */
import type { Postgres } from "../../postgres/connection.ts";

const SEARCH_EVERY_MS = 100;
/** Number of searches after which the service is notified in any case, for work that no event causes. */
const NOTIFY_AFTER = 10;

/** @returns function that ends the search */
export function searchNewEvents({ query }: Pick<Postgres, "query">, notify: () => void): () => void {
  let last: string | undefined;
  let searches = 0;
  let isSearching = false;

  async function search(): Promise<void> {
    const [row] = await query<{ last: string }>("SELECT last_sequence AS last FROM event_log");
    if (row?.last !== last) notify();
    last = row?.last;
  }
  const timer = setInterval(() => {
    if (searches++ % NOTIFY_AFTER === 0) notify();
    if (isSearching) return;
    isSearching = true;
    // The service itself logs that the database does not respond.
    void search()
      .catch(() => {})
      .finally(() => {
        isSearching = false;
      });
  }, SEARCH_EVERY_MS);
  return () => clearInterval(timer);
}
