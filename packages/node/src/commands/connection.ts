/** How commands talk to a node, and show what it says. */
import { type Client, createClient, jsonText } from "@uniknode/client";
import type { connectionOptions } from "../config/connection.ts";
import type { Config } from "../config/resolve.ts";

export type Connection = Config<typeof connectionOptions>;

export const connectTo = ({ url, timeout }: Connection): Client =>
  createClient({ url, timeoutMs: timeout * 1_000 });

/** Prints the value for programs, or the lines for people. */
export function show({ json }: Connection, value: unknown, lines: readonly string[]): void {
  process.stdout.write(`${json ? jsonText(value) : lines.map(withoutControls).join("\n")}\n`);
}

/** Messages, names and properties are anybody's text: none of it steers the terminal, or looks like another line. */
const withoutControls = (line: string): string =>
  line.replace(/\p{Cc}/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Lines of names and values; those without a value are left out. */
export const table = (rows: readonly (readonly [name: string, value: string | number | undefined])[]) =>
  rows.flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`${name.padEnd(14)}${value}`],
  );
