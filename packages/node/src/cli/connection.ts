/** Options of commands that talk to a node, and how they show what it says. */
import { type Client, createClient } from "@uniknode/client";
import { option, readInteger, readNodeUrl, readSwitch } from "../config/option.ts";
import type { Config } from "../config/resolve.ts";

export const connectionOptions = {
  url: option({
    name: "url",
    placeholder: "URL",
    sentence: "Base URL of the node.",
    default: "http://127.0.0.1:4003",
    read: readNodeUrl,
  }),
  timeout: option({
    name: "timeout",
    placeholder: "SECONDS",
    sentence: "Seconds for each answer of the node.",
    default: 10,
    read: readInteger(1, 3_600),
  }),
  json: option({
    name: "json",
    sentence: "Print one JSON document.",
    default: false,
    read: readSwitch,
  }),
};

export type Connection = Config<typeof connectionOptions>;

export const connectTo = ({ url, timeout }: Connection): Client =>
  createClient({ url, timeoutMs: timeout * 1_000 });

/** Prints the value for programs, or the lines for people. */
export function show({ json }: Connection, value: unknown, lines: readonly string[]): void {
  process.stdout.write(`${json ? JSON.stringify(value) : lines.join("\n")}\n`);
}

/** Lines of names and values; those without a value are left out. */
export const table = (rows: readonly (readonly [name: string, value: string | number | undefined])[]) =>
  rows.flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`${name.padEnd(14)}${value}`],
  );
