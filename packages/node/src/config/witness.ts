/** Every option of `uniknode witness`. */
import { optionTable, readInteger, readSwitch, readText } from "./define-option.ts";
import { nodeOptions } from "./options.ts";

const MAX_NODES = 16;

export const witnessOptions = optionTable({
  data: {
    placeholder: "DIR",
    sentence: "Folder of the key and of the last signed checkpoint; created if missing.",
    default: ".uniknode/witness",
    read: readText,
  },
  name: {
    placeholder: "NAME",
    sentence:
      "Name of the key in signatures, such as a host name that you own; derived from the key if not given.",
    read: readWitnessName,
  },
  minNodes: {
    placeholder: "N",
    sentence:
      "Number of nodes with different keys that must contain a tree; more than half of the given URLs if not given.",
    read: readInteger(1, MAX_NODES),
  },
  once: {
    sentence: "Compares once, prints the signed checkpoint, and ends.",
    default: false,
    read: readSwitch,
  },
  operationsHost: {
    ...nodeOptions.operationsHost,
    sentence: "Address that the listener of the checkpoint, health and metrics listens on.",
  },
  operationsPort: {
    ...nodeOptions.operationsPort,
    sentence: "Port of this listener; 0 selects a free port.",
    default: 4040,
  },
  logLevel: nodeOptions.logLevel,
  logFormat: nodeOptions.logFormat,
});

/** Reads a name of a key: it must not contain the separators of notes and keys. */
function readWitnessName(value: unknown): string {
  const name = readText(value);
  if (!/^[\w./:-]{1,200}$/.test(name)) {
    throw new Error("1 to 200 letters, digits and the characters . / : _ - are expected");
  }
  return name;
}
