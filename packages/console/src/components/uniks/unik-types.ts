/** The types of uniks in words. */

const TYPES: Readonly<Record<string, string>> = { 1: "individual", 2: "organization", 3: "network" };

/** @param type the property `type` of a unik */
export const unikTypeText = (type: string | undefined): string => TYPES[type ?? ""] ?? type ?? "unknown";
