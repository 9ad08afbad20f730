/** Pause between polls that can be ended early. */
export type Pause = {
  /** Waits, unless `end` was called since the last wait. */
  wait(timeMs: number): Promise<void>;
  /** Ends the current wait, or else the next one. */
  end(): void;
};

export function createPause(): Pause {
  let isEnded = false;
  let resume = () => {};
  return {
    async wait(timeMs) {
      if (!isEnded) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeMs);
          resume = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      isEnded = false;
    },
    end() {
      isEnded = true;
      resume();
    },
  };
}
