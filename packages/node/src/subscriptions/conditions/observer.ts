/** Called by everything that evaluates conditions; feeds the metrics. */

/** Component that evaluates the conditions. */
export type MatchingKind = "stream" | "webhook" | "replay" | "dry-run";

export type MatchingObserver = {
  /** Called with the time of an evaluation. */
  spent(kind: MatchingKind, ms: number): void;
  /** Called when a subscriber is deprioritised for the cost of its conditions. */
  slowed(kind: MatchingKind): void;
  /** Called when a subscriber was suspended, or its stream closed, for the cost of its conditions. */
  suspended(kind: MatchingKind): void;
};

export const NO_MATCHING_OBSERVER: MatchingObserver = { spent() {}, slowed() {}, suspended() {} };
