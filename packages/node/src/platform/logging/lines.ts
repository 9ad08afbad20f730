/**
 * Writes lines to a file descriptor in the background, one write at a time. Failures of the descriptor (a full disk, a
 * pipe that is closed or not read) never reach the caller: lines are buffered up to a bound, further lines are dropped
 * and counted, and the write is retried.
 */
import { write } from "node:fs";

type LinesOptions = {
  readonly fd: number;
  /** Maximum of buffered bytes. */
  readonly maxWaitingBytes?: number;
  /** Formats the line that replaces dropped lines, with their count; absent: dropped lines leave no trace. */
  readonly lostLine?: (count: number) => string;
};

export type Lines = {
  /** @param line with its line feed */
  write(line: string): void;
  /** Number of lines dropped since the thread started. */
  lost(): number;
  /** Resolves when everything is written, or after the timeout. */
  flushed(timeoutMs: number): Promise<void>;
};

const MAX_WAITING_BYTES = 1_048_576;
/** Lines are joined to writes of up to this size: a pipe accepts such a write completely or not at all. */
const WRITE_BYTES = 4_096;
/** Pauses before a write is retried: to a full pipe, and after any other failure. */
const FULL_PAUSE_MS = 20;
const FAILURE_PAUSE_MS = 500;

type State = {
  readonly fd: number;
  readonly lostLine: LinesOptions["lostLine"];
  readonly waiting: Buffer[];
  waitingBytes: number;
  /** Bytes of the current write that are not written yet. */
  rest: Uint8Array;
  isBusy: boolean;
  /** Lost lines that are not reported in the output yet. */
  unreported: number;
  readonly idle: Set<() => void>;
};

export function createLines({ fd, maxWaitingBytes = MAX_WAITING_BYTES, lostLine }: LinesOptions): Lines {
  const state: State = {
    fd,
    lostLine,
    waiting: [],
    waitingBytes: 0,
    rest: Buffer.alloc(0),
    isBusy: false,
    unreported: 0,
    idle: new Set(),
  };
  let lost = 0;
  return {
    write(line) {
      if (state.waitingBytes + Buffer.byteLength(line) > maxWaitingBytes) {
        lost++;
        state.unreported++;
        return;
      }
      reportLost(state);
      add(state, line);
      if (!state.isBusy) writeNext(state);
    },
    lost: () => lost,
    async flushed(timeoutMs) {
      if (!state.isBusy) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      state.idle.add(resolve);
      const timer = setTimeout(resolve, timeoutMs);
      await promise;
      clearTimeout(timer);
      state.idle.delete(resolve);
    },
  };
}

function add(state: State, line: string): void {
  const bytes = Buffer.from(line);
  state.waiting.push(bytes);
  state.waitingBytes += bytes.length;
}

function reportLost(state: State): void {
  const { unreported, lostLine } = state;
  if (unreported > 0 && lostLine) add(state, lostLine(unreported));
  state.unreported = 0;
}

/** Removes as many waiting lines as fit into one write, at least one. */
function takeLines(state: State): Buffer {
  let [count, bytes] = [0, 0];
  for (const line of state.waiting) {
    if (count > 0 && bytes + line.length > WRITE_BYTES) break;
    count++;
    bytes += line.length;
  }
  state.waitingBytes -= bytes;
  return Buffer.concat(state.waiting.splice(0, count));
}

function writeNext(state: State): void {
  if (state.rest.length === 0) {
    if (state.waiting.length === 0) reportLost(state);
    state.rest = takeLines(state);
  }
  const { fd, rest, idle } = state;
  state.isBusy = rest.length > 0;
  if (state.isBusy) write(fd, rest, 0, rest.length, null, (error, bytes) => written(state, error, bytes));
  else for (const resolve of idle) resolve();
}

function written(state: State, error: NodeJS.ErrnoException | null, bytes: number): void {
  if (error) {
    const pauseMs = error.code === "EAGAIN" ? FULL_PAUSE_MS : FAILURE_PAUSE_MS;
    // The timer must not keep the process alive.
    setTimeout(writeNext, pauseMs, state).unref();
    return;
  }
  state.rest = state.rest.subarray(bytes);
  writeNext(state);
}
