/** Called by everything that evaluates conditions; feeds the metrics. */

/** What evaluates the conditions. */
export type MatchingKind = "stream" | "webhook" | "replay" | "dry-run";

export type MatchingObserver = {
  /** Conditions were evaluated for so long. */
  spent(kind: MatchingKind, ms: number): void;
  /** A subscriber exceeded the steps up to which it is served at once. */
  slowed(kind: MatchingKind): void;
  /** A subscriber was suspended, or its stream closed, for the cost of its conditions. */
  suspended(kind: MatchingKind): void;
};

export const NO_MATCHING_OBSERVER: MatchingObserver = { spent() {}, slowed() {}, suspended() {} };
