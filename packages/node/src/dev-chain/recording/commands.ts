/** The commands of a dev chain that records its actions. */
import type { Network } from "@uniknode/protocol";
import type { DevCommand, DevResult } from "../../gateway/dev-commands.ts";
import type { DevClock } from "../clock.ts";
import { createDevCommands, type DrivenParts } from "../commands.ts";
import type { Cast } from "../network.ts";
import { createRecorder, type RecordedParts } from "./recorder.ts";

export type RunDevCommand = (command: DevCommand) => Promise<DevResult>;

/** Creates the commands of a node from its parts. */
export type CreateDev = (parts: DrivenParts & RecordedParts) => RunDevCommand;

export type RecordedChain = { readonly clock: DevClock; readonly cast: Cast; readonly network: Network };

/** @throws as `createDevCommands` */
export function createRecordedCommands(
  parts: DrivenParts & RecordedParts,
  { clock, cast, network }: RecordedChain,
): RunDevCommand {
  const recorder = createRecorder(parts, cast, network);
  const run = createDevCommands(parts, clock, recorder.performed);
  return async (command) => {
    if (command.name !== "recording") return run(command);
    // Waits for the commands before.
    const result = await run({ name: "snapshot" });
    const recording = recorder.scenario();
    if (command.isRestarted) recorder.restart();
    return { ...result, recording };
  };
}
