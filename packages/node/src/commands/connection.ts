/** Connects commands to a node and prints the results. */
import { type Client, createClient } from "@uniknode/client";
import type { Command } from "commander";
import { connectionOptions } from "../config/connection.ts";
import type { Config } from "../config/resolve.ts";
import { withOptions } from "./flags.ts";
import { printJson, printLines } from "./print.ts";

export type Connection = Config<typeof connectionOptions>;

export const connectTo = ({ url, timeout }: Connection): Client =>
  createClient({ url, timeoutMs: timeout * 1_000 });

/** Prints the value as JSON, or the lines as text. */
export function show({ json }: Connection, value: unknown, lines: readonly string[]): void {
  if (json) printJson(value);
  else printLines(lines);
}

/** Result of a query: the value for JSON, and the lines for readers. */
export type Shown = readonly [value: unknown, lines: readonly string[]];

/** Completes a command that queries a node and prints the result. */
export const queryCommand = <Arguments extends readonly unknown[]>(
  command: Command,
  query: (client: Client, ...given: Arguments) => Promise<Shown>,
): Command =>
  withOptions(command, connectionOptions, async (connection, ...given: unknown[]) => {
    const [value, lines] = await query(connectTo(connection), ...(given as unknown as Arguments));
    show(connection, value, lines);
  });

/** Formats names and values as lines, and omits empty values. */
export const table = (rows: readonly (readonly [name: string, value: string | number | undefined])[]) =>
  rows.flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`${name.padEnd(14)}${value}`],
  );
