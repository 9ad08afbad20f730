/** What the one writer of the chain has to do, in order. Blocks are read and verified ahead of their turn. */
import type { Part } from "./block-batch.ts";

/** Something else that is done between two parts; it does not throw. */
export type Turn = { readonly take: () => void };

export type Task = Part | Turn;

export type Line = {
  add(tasks: readonly Task[]): void;
  /** Settles when everything that was added is done. */
  idle(): Promise<void>;
};

export type LineDeps = {
  /** Begins the preparation of a part, unless it has begun. */
  readonly prepare: (part: Part) => void;
  /** Executes and commits prepared parts, all in one turn of the event loop. */
  readonly execute: (parts: Iterable<Part>) => void;
};

/** Parts in one commit while there are many: about 1,000 empty blocks, or 1,000 transactions. */
const COMMIT_PARTS = 8;
/** Parts read and verified ahead: enough to keep the verifier busy during a commit. */
export const PREPARED_PARTS = 24;

export function createLine({ prepare, execute }: LineDeps): Line {
  const tasks: Task[] = [];
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    for (let task = tasks[0]; task; task = tasks[0]) {
      prepareAhead();
      if (isPart(task)) {
        await Promise.all(leadingParts(COMMIT_PARTS).map((part) => part.preparing));
        execute(readyParts());
      } else {
        tasks.shift();
        task.take();
      }
      // Messages of the verifier, timers and sockets come between two commits.
      await nextTurn();
    }
  }

  /** Parts before the next turn of another kind. */
  function leadingParts(limit: number): Part[] {
    const leading = tasks.slice(0, limit);
    const end = leading.findIndex((task) => !isPart(task));
    return (end === -1 ? leading : leading.slice(0, end)) as Part[];
  }

  function prepareAhead(): void {
    for (const part of leadingParts(PREPARED_PARTS)) prepare(part);
  }

  /** Takes the parts whose preparation has ended, and lets others begin theirs. */
  function* readyParts(): Iterable<Part> {
    for (let part = tasks[0]; part && isPart(part) && part.prepared; part = tasks[0]) {
      tasks.shift();
      yield part;
      prepareAhead();
    }
  }

  return {
    add(added) {
      tasks.push(...added);
      working ??= work().finally(() => {
        working = undefined;
      });
    },
    idle: async () => working,
  };
}

const isPart = (task: Task): task is Part => "delivery" in task;

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
