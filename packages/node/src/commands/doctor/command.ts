/** `uniknode doctor`: whether this machine can run a node, and what to do where it cannot. */
import { Command } from "commander";
import { connectionOptions } from "../../config/connection.ts";
import { devOptions, nodeOptions, runOptions } from "../../config/options.ts";
import { defaultPeerPort, toPeersOptions } from "../../config/peers.ts";
import type { Config } from "../../config/resolve.ts";
import { chooseTimeServers } from "../../config/time.ts";
import { show } from "../connection.ts";
import { addFlags, readConfig } from "../options.ts";
import type { Finding } from "./finding.ts";
import {
  checkDisk,
  checkFileLimit,
  checkFolder,
  checkMemory,
  checkRuntime,
  checkSignatures,
  checkTime,
} from "./machine.ts";
import { checkGenesis, checkPeers, checkPort } from "./network.ts";

const options = {
  ...runOptions,
  data: {
    ...nodeOptions.data,
    sentence: `Data folder of the node; ${devOptions.data.default}, or ${runOptions.data.default} with a network, when not given.`,
  },
  json: connectionOptions.json,
};

/** A check found something that keeps a node from running. */
class DoctorError extends Error {
  readonly code = "DOCTOR";
  readonly isRetryable = false;
}

export function doctorCommand(): Command {
  const command = new Command("doctor").description(
    "check clock, disk, ports, limits, runtime, genesis block, peers and data folder; takes the options of a start",
  );
  return addFlags(command, options).action(async () => {
    const config = readConfig(command, options);
    const findings = await examine(config);
    show({ ...config, url: "", timeout: 0 }, findings, findings.flatMap(linesOf));
    const failed = findings.filter(({ state }) => state === "fail").map(({ name }) => name);
    if (failed.length > 0)
      throw new DoctorError(`${failed.join(", ")}: see the lines marked "fail" for what to do`);
  });
}

async function examine(config: Config<typeof options>): Promise<Finding[]> {
  const { httpHost, httpPort, p2pHost, network, networkDir, alone } = config;
  const isDev = network === undefined && networkDir === undefined;
  const data = config.data ?? (isDev ? devOptions : runOptions).data.default;
  const p2pPort = config.p2pPort ?? defaultPeerPort(network ?? "");
  const { seeds } = toPeersOptions(config, network ?? "");
  const hasPeers = !isDev && !alone;
  return [
    checkRuntime(),
    await checkSignatures(config.accelerator),
    await checkTime(chooseTimeServers(config)),
    checkMemory(),
    checkFileLimit(),
    checkFolder(data),
    checkDisk(data),
    await checkPort("HTTP port", httpHost, httpPort, "--http-port"),
    ...(hasPeers ? [await checkPort("peer port", p2pHost, p2pPort, "--p2p-port")] : []),
    checkGenesis(config),
    ...(hasPeers ? [await checkPeers(seeds, p2pPort)] : []),
  ];
}

const linesOf = ({ name, state, text, remedy }: Finding): string[] => [
  `${state.padEnd(6)}${name.padEnd(14)}${text}`,
  ...(remedy === undefined ? [] : [`${" ".repeat(20)}${remedy}`]),
];
