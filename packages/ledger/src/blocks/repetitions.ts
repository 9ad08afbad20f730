/** Blocks that are too high to be judged (consensus.md 6.4). */

/** Repetitions of a too high block after which the node assumes that its own chain is wrong. */
const MAX_REPETITIONS = 5;

/** Counts how often the same too high block was received in a row. */
export type Repetitions = {
  /** Returns true if the maximum is exceeded; the count then starts again. */
  isOnceTooOften(id: string): boolean;
};

export function createRepetitions(): Repetitions {
  let last = "";
  let count = 0;
  return {
    isOnceTooOften(id) {
      count = id === last ? count + 1 : 1;
      last = id;
      if (count <= MAX_REPETITIONS) return false;
      count = 0;
      return true;
    },
  };
}
