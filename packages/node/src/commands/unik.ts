/** `uniknode unik`: shows a unik and its properties. */
import { Command } from "commander";
import { connectionOptions } from "../config/connection.ts";
import { connectTo, show, table } from "./connection.ts";
import { addFlags, readConfig } from "./options.ts";

const KINDS: Readonly<Record<string, string>> = { 1: "individual", 2: "organization", 3: "network" };

export function unikCommand(): Command {
  const command = new Command("unik")
    .description("show a unik and its properties")
    .argument("<id>", "id of the unik, 64 hexadecimal digits");
  return addFlags(command, connectionOptions).action(async (id: string) => {
    const connection = readConfig(command, connectionOptions);
    const { uniks } = connectTo(connection);
    const { data: unik } = await uniks.get(id);
    const properties: [key: string, value: string][] = [];
    for await (const property of uniks.properties(id)) properties.push(...Object.entries(property));
    show(connection, { ...unik, properties: Object.fromEntries(properties) }, [
      ...table([
        ["id", unik.id],
        ["owner", unik.ownerId],
        ["type", KINDS[unik.type ?? ""] ?? unik.type],
        ["names", unik.explicitValues?.join(", ")],
        ["minted by", unik.transactions.first.id],
        ["changed by", unik.transactions.last.id],
      ]),
      ...properties.map(([key, value]) => `  ${key} = ${value}`),
    ]);
  });
}
