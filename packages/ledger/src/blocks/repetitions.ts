/** Blocks that are too high to be judged (consensus.md 6.4). */

/** Times in a row that a block may be too high before the own chain is suspected. */
const MAX_REPETITIONS = 5;

/** Counts how often the same too high block came in a row. */
export type Repetitions = {
  /** Whether it was once too often; the count then starts again. */
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
