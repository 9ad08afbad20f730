/** Synchronous versions of ports, as SQLite implements them. */

/** The functions of a port without promises. */
export type Sync<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...parameters: infer Parameters) => Promise<infer Answer>
    ? (...parameters: Parameters) => Answer
    : never;
};
