/** Cache of responses that pages have requested, each with the head at which it was read. */
import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { jsonText } from "@uniknode/client";

/** State of a cached response. */
export type CachedResponse<Value> = {
  /** Absent until the first response, and after a reorganization that affects it. */
  readonly value?: Value;
  /** Error of the last request; `value` is then from an earlier request, if any. */
  readonly error?: unknown;
  /** The first request is in progress. */
  readonly isLoading: boolean;
};

export type ResponseCache = {
  /** Number of refresh requests. */
  readonly revision: ReadonlySignal<number>;
  get<Value>(key: string): ReadonlySignal<CachedResponse<Value>>;
  /** Fetches unless this version is cached or in flight. */
  request<Value>(key: string, version: string, ask: () => Promise<Value>): Promise<void>;
  /** Refreshes all responses whose key begins with a text, and keeps showing the cached ones. */
  refresh(keyPrefix: string): void;
  /** Retries a failed request. */
  retry(): void;
  /** Drops all responses that contain one of these ids; without ids, all responses. */
  forget(ids?: readonly string[]): void;
};

type Entry = {
  readonly response: Signal<CachedResponse<unknown>>;
  version?: string | undefined;
  requests: number;
  /** The response belongs to an earlier version. Not a signal, because components change only with new data. */
  isStale: boolean;
};

/** Maximum number of entries, more than any page shows. */
const MAX_ENTRIES = 200;
const NOTHING: CachedResponse<never> = { isLoading: true };

export function createResponseCache(maxEntries = MAX_ENTRIES): ResponseCache {
  /** Entries, most recently used last. */
  const entries = new Map<string, Entry>();
  const revision = signal(0);

  function entryOf(key: string): Entry {
    const entry = entries.get(key) ?? {
      response: signal<CachedResponse<unknown>>(NOTHING),
      requests: 0,
      isStale: false,
    };
    entries.delete(key);
    entries.set(key, entry);
    const [oldest] = entries.keys();
    if (oldest !== undefined && entries.size > maxEntries) entries.delete(oldest);
    return entry;
  }

  async function request<Value>(key: string, version: string, ask: () => Promise<Value>): Promise<void> {
    const entry = entryOf(key);
    if (entry.version === version) return;
    entry.version = version;
    const number = ++entry.requests;
    const known = entry.response.peek();
    entry.isStale = true;
    if (known.value === undefined && !known.isLoading) entry.response.value = { ...known, isLoading: true };
    const outcome = await ask().then(
      (value): CachedResponse<Value> => ({ value, isLoading: false }),
      (error: unknown) => ({ error, isLoading: false }),
    );
    // A later request or a reorganization made the response obsolete.
    if (number !== entry.requests) return;
    entry.isStale = "error" in outcome;
    entry.response.value = entry.isStale ? { ...entry.response.peek(), ...outcome } : outcome;
  }

  function again(isMeant: (key: string, entry: Entry) => boolean, isForgotten: boolean): void {
    for (const [key, entry] of entries) {
      if (!isMeant(key, entry)) continue;
      entry.version = undefined;
      entry.requests++;
      if (isForgotten) entry.response.value = NOTHING;
    }
    revision.value++;
  }

  return {
    revision,
    get: <Value>(key: string) => entryOf(key).response as Signal<CachedResponse<Value>>,
    request,
    refresh: (keyPrefix) => again((key) => key.startsWith(keyPrefix), false),
    retry: () => again((_key, { response }) => response.peek().error !== undefined, false),
    forget: (ids) => again((_key, entry) => ids === undefined || mayContain(entry, ids), true),
  };
}

/** Returns true if the response contains one of the ids, or if it is not known yet. */
function mayContain({ response, isStale }: Entry, ids: readonly string[]): boolean {
  const { value, isLoading } = response.peek();
  if (isStale || isLoading) return true;
  const text = jsonText(value);
  return ids.some((id) => text.includes(id));
}
