export * from "./facts.ts";
export * from "./rules/error.ts";
export * from "./rules/rule.ts";
export * from "./state/draft.ts";
export * from "./state/memory.ts";
export * from "./state/tables.ts";
