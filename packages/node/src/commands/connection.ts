/** Connects commands to a node and prints the results. */
import { type Client, createClient } from "@uniknode/client";
import type { connectionOptions } from "../config/connection.ts";
import type { Config } from "../config/resolve.ts";
import { printJson, printLines } from "./print.ts";

export type Connection = Config<typeof connectionOptions>;

export const connectTo = ({ url, timeout }: Connection): Client =>
  createClient({ url, timeoutMs: timeout * 1_000 });

/** Prints the value as JSON, or the lines as text. */
export function show({ json }: Connection, value: unknown, lines: readonly string[]): void {
  if (json) printJson(value);
  else printLines(lines);
}

/** Formats names and values as lines, and omits empty values. */
export const table = (rows: readonly (readonly [name: string, value: string | number | undefined])[]) =>
  rows.flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`${name.padEnd(14)}${value}`],
  );
