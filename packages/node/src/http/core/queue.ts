/** A queue that processes a few items in each tick of the event loop. */
export class Queue<T> {
  readonly #perTick: number;
  readonly #work: (item: T) => void;
  #items: T[] = [];
  #isScheduled = false;

  /** @param perTick number of items that are processed before other events of the loop */
  constructor(perTick: number, work: (item: T) => void) {
    this.#perTick = perTick;
    this.#work = work;
  }

  push(item: T): void {
    this.#items.push(item);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#items.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => this.#run());
  }

  #run(): void {
    this.#isScheduled = false;
    const now = this.#items.splice(0, this.#perTick);
    try {
      for (const item of now) this.#work(item);
    } finally {
      this.#schedule();
    }
  }
}
