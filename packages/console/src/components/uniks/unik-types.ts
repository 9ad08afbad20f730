/** Names of unik types. */

const TYPES: Readonly<Record<string, string>> = { 1: "individual", 2: "organization", 3: "network" };

/** @param type property `type` of a unik */
export const unikTypeText = (type: string | undefined): string => TYPES[type ?? ""] ?? type ?? "unknown";
