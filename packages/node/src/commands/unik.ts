/** `uniknode unik`: shows a unik and its properties. */
import type { Client } from "@uniknode/client";
import { Command } from "commander";
import { queryCommand, type Shown, table } from "./connection.ts";

const KINDS: Readonly<Record<string, string>> = { 1: "individual", 2: "organization", 3: "network" };

export const unikCommand = (): Command =>
  queryCommand(new Command("unik").argument("<id>", "id of the unik, 64 hexadecimal digits"), showUnik);

async function showUnik({ uniks }: Client, id: string): Promise<Shown> {
  const { data: unik } = await uniks.get(id);
  const properties: [key: string, value: string][] = [];
  for await (const property of uniks.properties(id)) properties.push(...Object.entries(property));
  return [
    { ...unik, properties: Object.fromEntries(properties) },
    [
      ...table([
        ["id", unik.id],
        ["owner", unik.ownerId],
        ["type", KINDS[unik.type ?? ""] ?? unik.type],
        ["names", unik.explicitValues?.join(", ")],
        ["minted by", unik.transactions.first.id],
        ["changed by", unik.transactions.last.id],
      ]),
      ...properties.map(([key, value]) => `  ${key} = ${value}`),
    ],
  ];
}
