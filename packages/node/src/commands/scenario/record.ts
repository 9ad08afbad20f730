/** `uniknode scenario record`: writes the recorded actions of a dev chain as a scenario file. */
import { scenarioText } from "@uniknode/client";
import { readScenario } from "@uniknode/client/testing";
import { Command } from "commander";
import { writeNewFile } from "../../platform/files/whole-file.ts";
import { countOf } from "../../platform/text/count.ts";
import { show } from "../connection.ts";
import { addFlags, readConfig } from "../options.ts";
import { printText } from "../print.ts";
import { connectWithToken } from "../webhooks/service.ts";
import { scenarioRecordOptions } from "./options.ts";

const NOTES = `
A dev chain records its commands, transactions and blocks since its start. The file has them without times and ids, and the
present height and balances as expectations, so that it passes on a new dev chain. Without FILE, the scenario is printed.`;

export function recordScenarioCommand(): Command {
  const command = new Command("record")
    .description("write the actions on a running dev chain as a scenario file")
    .argument("[file]", "file to create")
    .addHelpText("after", NOTES);
  return addFlags(command, scenarioRecordOptions).action(async (file: string | undefined) => {
    const config = readConfig(command, scenarioRecordOptions);
    const { client, connection } = connectWithToken(config);
    const { data } = await (config.restart ? client.dev.restartRecording() : client.dev.recording());
    const scenario = readScenario(data);
    const text = scenarioText(scenario);
    if (file === undefined) return printText(text.trimEnd());
    // An existing file may have been edited.
    await writeNewFile(file, [text]);
    const { steps } = scenario;
    const notes = steps.flatMap((step) => ("note" in step ? [`note: ${step.note}`] : []));
    show(connection, { file, steps: steps.length, notes }, [
      ...notes,
      `${countOf(steps.length, "steps")} in ${file}`,
    ]);
  });
}
