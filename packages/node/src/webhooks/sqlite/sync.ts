/** Ports whose functions return promises, as SQLite implements them: without waiting. */

/** The functions of a port without promises. */
export type Sync<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...parameters: infer Parameters) => Promise<infer Result>
    ? (...parameters: Parameters) => Result
    : never;
};

/**
 * Returns the port of synchronous functions. Each runs when it is called: its promise is already settled, and rejected if
 * the function threw.
 */
export function toPort<Port>(functions: Sync<Port>): Port {
  const wrapped = Object.entries<(...parameters: unknown[]) => unknown>(functions).map(([name, call]) => [
    name,
    async (...parameters: unknown[]) => call(...parameters),
  ]);
  return Object.fromEntries(wrapped);
}
