/**
 * What messages make this node do, in slices with ticks of the event loop between them. Senders take turns, so that
 * none of them delays the messages of the others.
 */

/** Work that yields where other work may come between. */
export type Work<T> = Generator<void, T>;

export type WorkQueue = {
  /** Does the work after what was added before for the same sender. Settles with its result, or what it throws. */
  run<T>(sender: string, work: Work<T>): Promise<T>;
};

/** Time of a slice. Blocks, slots and requests of clients wait no longer for it. */
const SLICE_MS = 8;

/** Does one step; whether the work has ended. */
type Step = () => boolean;

export function createWorkQueue(): WorkQueue {
  /** Work by sender, in the order of their turns. */
  const waiting = new Map<string, Step[]>();
  let isRunning = false;

  async function runSlices(): Promise<void> {
    isRunning = true;
    while (waiting.size > 0) {
      await nextTick();
      const endsAt = performance.now() + SLICE_MS;
      while (waiting.size > 0 && performance.now() < endsAt) {
        takeTurn();
        // What waits for the result belongs to the slice.
        await undefined;
      }
    }
    isRunning = false;
  }

  function takeTurn(): void {
    const [next] = waiting;
    const [sender, steps] = next!;
    waiting.delete(sender);
    if (steps[0]!()) steps.shift();
    if (steps.length > 0) waiting.set(sender, steps);
  }

  return {
    run: (sender, work) =>
      new Promise((resolve, reject) => {
        const steps = waiting.get(sender) ?? [];
        steps.push(() => {
          try {
            const { done, value } = work.next();
            if (done) resolve(value);
            return done === true;
          } catch (error) {
            reject(error);
            return true;
          }
        });
        waiting.set(sender, steps);
        if (!isRunning) void runSlices();
      }),
  };
}

const nextTick = () => new Promise<void>((resolve) => setImmediate(resolve));
