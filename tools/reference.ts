/** `npm run reference`: generates docs/reference and the lists of the client, from the tables that the program uses. */
import { writeFileSync } from "node:fs";
import { conformOptions } from "../packages/node/src/commands/conform/conform-options.ts";
import { listenOptions } from "../packages/node/src/commands/listen/listen.ts";
import { rpcOptions } from "../packages/node/src/commands/rpc.ts";
import { txOptions } from "../packages/node/src/commands/tx/tx.ts";
import { serviceOptions } from "../packages/node/src/commands/webhooks/service.ts";
import { connectionOptions } from "../packages/node/src/config/connection.ts";
import { type Option, toFlag, toVariable } from "../packages/node/src/config/define-option.ts";
import { deliverOptions, mirrorOptions, serveOptions } from "../packages/node/src/config/mirror.ts";
import { devOptions, runOptions } from "../packages/node/src/config/options.ts";
import type { OptionTable } from "../packages/node/src/config/resolve.ts";
import { witnessOptions } from "../packages/node/src/config/witness.ts";
import { clientLists } from "./reference-client.ts";
import { commandsPage } from "./reference-commands.ts";
import { errorsPage } from "./reference-errors.ts";
import { eventsPage } from "./reference-events.ts";
import { listsPage } from "./reference-lists.ts";
import { scenariosPage } from "./reference-scenarios.ts";

/** Returns the content of each generated file by path. */
export async function referencePages(): Promise<Record<string, string>> {
  return {
    "docs/reference/commands.md": await commandsPage(),
    "docs/reference/configuration.md": configurationPage(),
    "docs/reference/errors.md": errorsPage(),
    "docs/reference/events.md": await eventsPage(),
    "docs/reference/lists.md": listsPage(),
    "docs/reference/scenarios.md": scenariosPage(),
    "packages/client/src/api/list-filters.ts": clientLists(),
  };
}

function configurationPage(): string {
  return [
    "# Configuration",
    "",
    "A flag takes precedence over the environment, the environment over the file of `--config`, the file over the default.",
    "The file is a JSON object with the names of the first column as members; unknown members are rejected.",
    "",
    ...optionTable("uniknode dev", devOptions),
    ...optionTable("uniknode run", runOptions),
    ...optionTable("uniknode listen", listenOptions),
    ...optionTable("uniknode conform", conformOptions),
    ...optionTable("uniknode status, block, unik, wallet", connectionOptions),
    ...optionTable("uniknode webhooks", serviceOptions),
    ...optionTable("uniknode tx", txOptions),
    ...optionTable("uniknode rpc", rpcOptions),
    ...optionTable("uniknode mirror", mirrorOptions),
    ...optionTable("uniknode serve", serveOptions),
    ...optionTable("uniknode deliver", deliverOptions),
    ...optionTable("uniknode witness", witnessOptions),
  ].join("\n");
}

function optionTable(title: string, table: OptionTable): string[] {
  return [
    `## ${title}`,
    "",
    "| option | flag | environment | default | meaning |",
    "|---|---|---|---|---|",
    ...Object.values(table).map(optionRow),
    "",
  ];
}

const optionRow = (option: Option): string => {
  const flag = option.hasNoFlag ? "" : `\`${toFlag(option)}\``;
  const text = String(option.default ?? "");
  const value = text === "" ? "" : `\`${text}\``;
  const variables = [toVariable(option), ...(option.oldVariables ?? [])]
    .map((name) => `\`${name}\``)
    .join(", ");
  return `| \`${option.name}\` | ${flag} | ${variables} | ${value} | ${option.sentence} |`;
};

if (process.argv[1]?.endsWith("reference.ts")) {
  for (const [path, content] of Object.entries(await referencePages())) writeFileSync(path, content);
}
