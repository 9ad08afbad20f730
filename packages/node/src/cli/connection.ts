/** How commands talk to a node, and show what it says. */
import { type Client, createClient, jsonText } from "@uniknode/client";
import type { connectionOptions } from "../config/connection.ts";
import type { Config } from "../config/resolve.ts";

export type Connection = Config<typeof connectionOptions>;

export const connectTo = ({ url, timeout }: Connection): Client =>
  createClient({ url, timeoutMs: timeout * 1_000 });

/** Prints the value for programs, or the lines for people. */
export function show({ json }: Connection, value: unknown, lines: readonly string[]): void {
  process.stdout.write(`${json ? jsonText(value) : lines.join("\n")}\n`);
}

/** Lines of names and values; those without a value are left out. */
export const table = (rows: readonly (readonly [name: string, value: string | number | undefined])[]) =>
  rows.flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`${name.padEnd(14)}${value}`],
  );
