/** Cache of responses that pages have requested, each with the head at which it was read. */
import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { jsonText } from "@uniknode/client";

/** State of a cached response. */
export type Answer<Value> = {
  /** Absent until the first response, and after a reorganization that affects it. */
  readonly value?: Value;
  /** Error of the last request; `value` is then from an earlier request, if any. */
  readonly error?: unknown;
  /** The first request is in progress. */
  readonly isLoading: boolean;
};

export type Answers = {
  /** Number of refresh requests. */
  readonly revision: ReadonlySignal<number>;
  answerOf<Value>(key: string): ReadonlySignal<Answer<Value>>;
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
  readonly answer: Signal<Answer<unknown>>;
  version?: string | undefined;
  requests: number;
  /** The response belongs to an earlier version. Not a signal, because components change only with new data. */
  isStale: boolean;
};

/** Maximum number of entries, more than any page shows. */
const MAX_ANSWERS = 200;
const NOTHING: Answer<never> = { isLoading: true };

export function createAnswers(maxAnswers = MAX_ANSWERS): Answers {
  /** Entries, most recently used last. */
  const entries = new Map<string, Entry>();
  const revision = signal(0);

  function entryOf(key: string): Entry {
    const entry = entries.get(key) ?? {
      answer: signal<Answer<unknown>>(NOTHING),
      requests: 0,
      isStale: false,
    };
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > maxAnswers) entries.delete(entries.keys().next().value!);
    return entry;
  }

  async function request<Value>(key: string, version: string, ask: () => Promise<Value>): Promise<void> {
    const entry = entryOf(key);
    if (entry.version === version) return;
    entry.version = version;
    const number = ++entry.requests;
    const known = entry.answer.peek();
    entry.isStale = true;
    if (known.value === undefined && !known.isLoading) entry.answer.value = { ...known, isLoading: true };
    const outcome = await ask().then(
      (value): Answer<Value> => ({ value, isLoading: false }),
      (error: unknown) => ({ error, isLoading: false }),
    );
    // A later request or a reorganization made the response obsolete.
    if (number !== entry.requests) return;
    entry.isStale = "error" in outcome;
    entry.answer.value = entry.isStale ? { ...entry.answer.peek(), ...outcome } : outcome;
  }

  function again(isMeant: (key: string, entry: Entry) => boolean, isForgotten: boolean): void {
    for (const [key, entry] of entries) {
      if (!isMeant(key, entry)) continue;
      entry.version = undefined;
      entry.requests++;
      if (isForgotten) entry.answer.value = NOTHING;
    }
    revision.value++;
  }

  return {
    revision,
    answerOf: <Value>(key: string) => entryOf(key).answer as Signal<Answer<Value>>,
    request,
    refresh: (keyPrefix) => again((key) => key.startsWith(keyPrefix), false),
    retry: () => again((_key, { answer }) => answer.peek().error !== undefined, false),
    forget: (ids) =>
      again((_key, { answer, isStale }) => {
        const { value, isLoading } = answer.peek();
        if (ids === undefined || isStale || isLoading) return true;
        const text = jsonText(value);
        return ids.some((id) => text.includes(id));
      }, true),
  };
}
