/** `uniknode snapshot`, `export` and `import`: copy a chain. */
import { createReadStream, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createNetwork, type Network } from "@uniknode/protocol";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { ArchiveError } from "../archive/archive-error.ts";
import { importBlocks } from "../archive/import.ts";
import type { Manifest } from "../archive/manifest.ts";
import { restoreSnapshot } from "../archive/restore.ts";
import { createChainSnapshot, verifySnapshot } from "../archive/snapshot.ts";
import { exportBlocks } from "../archive/stream.ts";
import { choosePin } from "../config/assume-valid.ts";
import { optionTable, readText } from "../config/define-option.ts";
import { loadNetwork } from "../config/network.ts";
import { runOptions } from "../config/options.ts";
import type { Config } from "../config/resolve.ts";
import { adoptFolder, isDevFolder, readShape } from "../dev-chain/folder.ts";
import { deriveAccounts } from "../dev-chain/keys.ts";
import { castOf, DEV_ADDRESS_VERSION, devGenesis } from "../dev-chain/network.ts";
import { ConfigError } from "../platform/coded-error.ts";
import { writeNewFile } from "../platform/files/whole-file.ts";
import { limitHeapGrowth } from "../platform/lifecycle/process.ts";
import { programVersion } from "../platform/lifecycle/program.ts";
import { TemporaryFolder } from "../store/engine/new-folder.ts";
import { BatchVerifier } from "../verification/verifier.ts";
import { addFlags, readConfig, withOptions } from "./flags.ts";
import { printLines } from "./print.ts";

const { data, network, genesis, networkDir } = runOptions;
const networkOptions = optionTable({
  network,
  genesis,
  networkDir,
  devChain: {
    placeholder: "DIR",
    sentence: "Data folder of the dev chain that the copy belongs to, instead of a network.",
    read: readText,
  },
});
const chainOptions = { data, ...networkOptions };

const VERIFIER_THREADS = 2;
/** A node has less time, because others wait for its block. On a busy machine, the start of a thread alone can last seconds. */
const VERIFIER_TIMEOUT_MS = 240_000;

export function snapshotCommand(): Command {
  const command = new Command("snapshot");
  const folder = () => new Argument("<SNAPSHOT>", "folder of the snapshot");

  const create = command
    .command("create")
    .description("write the chain of a data folder to a snapshot; also while the node runs")
    .option("--output <DIR>", "Folder to create (default: snapshot-<time>).");
  addFlags(create, { data }).action(async () => {
    const output = create.opts<{ output?: string }>().output ?? `snapshot-${Date.now()}`;
    const options = { ...readConfig(create, { data }), output, program: programVersion(), nowMs: Date.now };
    const manifest = await createChainSnapshot({ ...options, onProgress: createProgress() });
    const { size } = statSync(join(output, manifest.database.file));
    say(`${output}: ${summary(manifest)}, ${size.toLocaleString("en")} bytes`);
  });

  const restore = command
    .command("restore")
    .description("check a snapshot and restore it into an empty data folder")
    .addArgument(folder());
  withOptions(restore, chainOptions, async (config, snapshot: string) => {
    const manifest = await withChain(config, (deps) =>
      restoreSnapshot(snapshot, config.data, { ...deps, claimFolder: () => adopt(config, deps.network) }),
    );
    say(`${config.data}: ${summary(manifest)}`);
  });

  const verify = command
    .command("verify")
    .description(
      "check every block of a snapshot; TMPDIR needs twice the space of the chain meanwhile, with --execute more",
    )
    .addArgument(folder())
    .option("--execute", "Also execute all blocks and compare the state; the only complete check.");
  addFlags(verify, networkOptions).action(async (snapshot: string) => {
    const { execute: isExecuted = false } = verify.opts<{ execute?: boolean }>();
    let scratch: TemporaryFolder | undefined;
    const onSignal = (_: NodeJS.Signals, number: number) => {
      scratch?.remove();
      process.exit(128 + number);
    };
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
    for (const signal of signals) process.once(signal, onSignal);
    try {
      const config = readConfig(verify, networkOptions);
      scratch = new TemporaryFolder("uniknode-verify-");
      const options = { scratch: scratch.path, isExecuted };
      const manifest = await withChain(config, (deps) => verifySnapshot(snapshot, options, deps));
      say(`${snapshot} is valid: ${summary(manifest)}`);
    } finally {
      scratch?.remove();
      for (const signal of signals) process.off(signal, onSignal);
    }
  });
  return command;
}

export function exportCommand(): Command {
  const command = new Command("export")
    .argument("[FILE]", "file to write; - is standard output", "-")
    .addOption(height("--from <HEIGHT>", "First block.").default(2))
    .addOption(height("--to <HEIGHT>", "Last block (default: the head)."));
  return addFlags(command, chainOptions).action(async (file: string) => {
    const { from, to } = command.opts<{ from: number; to?: number }>();
    const config = readConfig(command, chainOptions);
    const progress = createProgress();
    limitHeapGrowth();
    const blocks = exportBlocks({
      data: config.data,
      network: createNetwork(sourceOf(config).files),
      from,
      to,
      onProgress: (done, total) => progress(`exporting ${total} blocks`, done / total),
    });
    await (file === "-" ? pipeline(blocks, process.stdout) : writeNewFile(file, blocks));
  });
}

export function importCommand(): Command {
  const command = new Command("import").argument("[FILE]", "file to read; - is standard input", "-");
  const options = { ...chainOptions, assumeValid: runOptions.assumeValid };
  return withOptions(command, options, async (config, file: string) => {
    if (file !== "-" && !existsSync(file)) {
      throw new ArchiveError(
        "ARCHIVE_MISSING",
        `${file} does not exist; give a file that "uniknode export" wrote`,
      );
    }
    const source = file === "-" ? process.stdin : createReadStream(file, { highWaterMark: 1 << 20 });
    const { accepted, skipped, head, uncheckedFrom } = await withChain(config, (deps) =>
      importBlocks(source, config.data, {
        ...deps,
        claimFolder: () => adopt(config, deps.network),
        assumeValid: choosePin(config.assumeValid, deps.network.description, { forges: false }),
        onProgress: (blocks) => {
          // Batches end at any number of blocks.
          if (blocks >= 1000) deps.onProgress(`importing, ${blocks - (blocks % 1000)} blocks`);
        },
      }),
    );
    say(`${accepted} blocks imported, ${skipped} skipped; the head is block ${head.height} ${head.id}`);
    if (uncheckedFrom !== undefined) {
      say(`signatures from block ${uncheckedFrom} on are unchecked: continue with the same --assume-valid`);
    }
  });
}

/** Runs work with the selected network and verifier threads, and closes the threads. */
async function withChain<T>(
  config: Config<typeof networkOptions>,
  work: (deps: ReturnType<typeof createDeps>) => Promise<T>,
): Promise<T> {
  const deps = createDeps(config);
  limitHeapGrowth();
  try {
    return await work(deps);
  } finally {
    await deps.verifier.close();
  }
}

function createDeps(config: Config<typeof networkOptions>) {
  const { files, block } = sourceOf(config);
  return {
    network: createNetwork(files),
    genesis: block,
    verifier: new BatchVerifier({ threads: VERIFIER_THREADS, timeoutMs: VERIFIER_TIMEOUT_MS }),
    nowMs: Date.now,
    hasOwnClock: config.devChain !== undefined,
    onProgress: createProgress(),
  };
}

/** Makes the folder a dev chain if it gets one. */
function adopt({ data, devChain }: Config<typeof chainOptions>, network: Network): void {
  if (devChain !== undefined) adoptFolder(data, devChain, network);
}

/** @throws {ConfigError} unless exactly one of network and dev chain is given */
function sourceOf({ devChain, ...choice }: Config<typeof networkOptions>) {
  if (devChain === undefined) {
    if (choice.network === undefined && choice.networkDir === undefined) {
      throw new ConfigError(
        "no chain selected: give --dev-chain DIR, --network-dir DIR, or --network NAME with --genesis FILE",
      );
    }
    const { files, genesis: block } = loadNetwork(choice);
    return { files, block };
  }
  if (choice.network !== undefined || choice.networkDir !== undefined) {
    throw new ConfigError("--dev-chain selects its own network: omit --network and --network-dir");
  }
  if (!isDevFolder(devChain)) {
    throw new ConfigError(
      `--dev-chain: ${devChain} does not contain a dev chain; give the folder that "uniknode dev" uses`,
    );
  }
  const { mnemonic, accounts, blockTime } = readShape(devChain);
  return devGenesis(castOf(deriveAccounts(mnemonic, DEV_ADDRESS_VERSION), accounts), blockTime);
}

const height = (flags: string, sentence: string) =>
  new Option(flags, sentence).argParser((text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
    if (value >= 2) return value;
    throw new InvalidArgumentError("A height of 2 or more is expected.");
  });

const summary = ({ head, transactions }: Manifest): string =>
  `block ${head.height} ${head.id}, ${transactions} transactions`;

const say = (text: string) => printLines([text]);

/** Reports the current step, and for long steps the completed fraction from 0 to 1. */
type Progress = (step: string, part?: number) => void;

/** Writes progress to standard error: one updated line on a terminal, otherwise one line per 10 %. */
function createProgress(out: NodeJS.WriteStream = process.stderr): Progress {
  let last = "";
  return (step, part) => {
    const percent = part === undefined ? undefined : Math.floor(part * 100);
    const shown = percent === undefined || out.isTTY ? percent : percent - (percent % 10);
    const line = shown === undefined ? `${step} ...` : `${step} ... ${shown} %`;
    if (line === last) return;
    const isSameStep = last.startsWith(`${step} ...`);
    const ending = out.isTTY ? (percent === 100 || percent === undefined ? "\n" : "") : "\n";
    out.write(`${out.isTTY && isSameStep ? "\r" : ""}${line}${ending}`);
    last = line;
  };
}
