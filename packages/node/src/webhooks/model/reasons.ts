/** Reasons of cancelled deliveries that every storage uses. */

/** The block of the fact was reverted, and its receiver gets the retraction instead. */
export const REVERTED_REASON = "its block was undone";
