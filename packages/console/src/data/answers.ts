/** Answers of the node that pages have asked for, each with the head that it was read at. */
import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { jsonText } from "@uniknode/client";

/** What a component knows of an answer. */
export type Answer<Value> = {
  /** Absent until the first answer, and after a reorganization that concerns it. */
  readonly value?: Value;
  /** Why the last request failed; `value` is then that of an earlier one, if there is one. */
  readonly error?: unknown;
  /** There is nothing to show yet. */
  readonly isLoading: boolean;
};

export type Answers = {
  /** Counts demands to ask again. */
  readonly revision: ReadonlySignal<number>;
  answerOf<Value>(key: string): ReadonlySignal<Answer<Value>>;
  /** Asks, unless the answer of this version is there or on its way. */
  request<Value>(key: string, version: string, ask: () => Promise<Value>): Promise<void>;
  /** Asks again for all answers whose key begins with a text, and shows what is there meanwhile. */
  refresh(keyPrefix: string): void;
  /** Requests again what failed. */
  retry(): void;
  /** Drops all answers that name one of these ids; all answers without ids. */
  forget(ids?: readonly string[]): void;
};

type Entry = {
  readonly answer: Signal<Answer<unknown>>;
  version?: string | undefined;
  requests: number;
  /** The answer belongs to an earlier version, and no component has to know: it changes only when there is something new. */
  isStale: boolean;
};

/** More than any page shows at a time. */
const MAX_ANSWERS = 200;
const NOTHING: Answer<never> = { isLoading: true };

export function createAnswers(maxAnswers = MAX_ANSWERS): Answers {
  /** The one that was used last is the last. */
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
    // A later request, or a reorganization, made it obsolete.
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
