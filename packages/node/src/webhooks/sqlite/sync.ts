/** Calls of a port that SQLite answers at once. */

/** The same calls without promises. */
export type Sync<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...parameters: infer Parameters) => Promise<infer Answer>
    ? (...parameters: Parameters) => Answer
    : never;
};
