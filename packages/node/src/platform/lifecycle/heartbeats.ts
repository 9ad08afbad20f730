/**
 * Whether the threads of the process turn. Each counts in shared memory as long as its event loop does; another one sees
 * that the count stands still. The time is the watcher's own: a process that was suspended, or a machine that slept, is
 * no thread that hangs.
 */

export type Thread = "consensus" | "serving";

export type Watch = {
  /** Seconds since the thread was seen to turn. */
  silentSeconds(): number;
  close(): void;
};

export type WatchDeps = {
  /** The thread has been silent for `MAX_SILENT_SECONDS`. */
  readonly onSilent?: () => void;
  /** It turns again. */
  readonly onBack?: (silentSeconds: number) => void;
};

/** A thread that is silent for longer does not do its work, whatever keeps it. */
export const MAX_SILENT_SECONDS = 10;

const PLACES: Readonly<Record<Thread, number>> = { consensus: 0, serving: 1 };
const BEAT_MS = 1_000;

/** What the threads share. */
export const createHeartbeats = (): SharedArrayBuffer =>
  new SharedArrayBuffer(Object.keys(PLACES).length * Int32Array.BYTES_PER_ELEMENT);

/** Counts for the thread that calls it, until it is closed. */
export function beat(heartbeats: SharedArrayBuffer, thread: Thread): { close(): void } {
  const counts = new Int32Array(heartbeats);
  const timer = setInterval(() => Atomics.add(counts, PLACES[thread], 1), BEAT_MS).unref();
  return { close: () => clearInterval(timer) };
}

/** Watches another thread. */
export function watch(
  heartbeats: SharedArrayBuffer,
  thread: Thread,
  { onSilent = () => {}, onBack = () => {} }: WatchDeps = {},
): Watch {
  const counts = new Int32Array(heartbeats);
  let seen = Atomics.load(counts, PLACES[thread]);
  let silentSeconds = 0;
  const timer = setInterval(() => {
    const count = Atomics.load(counts, PLACES[thread]);
    if (count === seen) {
      silentSeconds++;
      if (silentSeconds === MAX_SILENT_SECONDS) onSilent();
      return;
    }
    if (silentSeconds >= MAX_SILENT_SECONDS) onBack(silentSeconds);
    silentSeconds = 0;
    seen = count;
  }, BEAT_MS).unref();
  return { silentSeconds: () => silentSeconds, close: () => clearInterval(timer) };
}
