/** `uniknode checkpoint`: prints a checkpoint for the verification of proofs. */
import type { Client } from "@uniknode/client";
import { checkpointText, createCheckpoint } from "@uniknode/client/proofs";
import { Command } from "commander";
import { queryCommand, type Shown } from "./connection.ts";

export const checkpointCommand = (): Command => queryCommand(new Command("checkpoint"), showCheckpoint);

async function showCheckpoint(client: Client): Promise<Shown> {
  const checkpoint = await createCheckpoint(client);
  return [checkpoint, checkpointText(checkpoint).trimEnd().split("\n")];
}
