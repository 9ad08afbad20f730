/** Kinds of identity: the property `type` of a unik (state.md 3.2). */

/** Name by type. */
const NAMES: Readonly<Record<number, string>> = { 1: "individual", 2: "organization", 3: "network" };

/** Valid values of the property. */
export const KIND_TEXTS: readonly string[] = Object.keys(NAMES);

/** Returns the name of a type; undefined for a type that only tokens other than uniks can have. */
export const kindName = (type: number): string | undefined => NAMES[type];

/**
 * Type in a wallet's map of a token whose property is `text`; NaN if the property is missing or no number. Like the network, without a
 * radix: `0x2` is 2 (trap A30).
 */
export const typeFromText = (text: string | null | undefined): number => Number.parseInt(text ?? "");
