/** Arguments of the tools and benchmarks: prints the usage for `--help`, and for arguments that do not exist. */
import { type ParseArgsConfig, parseArgs } from "node:util";

/**
 * Parses the command line. Ends the process with code 0 after `--help`, and with code 2 after an unknown option.
 *
 * @param command as typed after `npm run`, with the names of its positional arguments
 */
export function readArguments<T extends ParseArgsConfig>(
  command: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  return orUsage(usageOf(command, config), process.argv.slice(2), () => parseArgs(config));
}

/** Returns the result of `read`; prints the usage instead if the arguments request it, or if `read` refuses them. */
export function orUsage<T>(usage: string, args: readonly string[], read: () => T): T {
  if (args.includes("--help") || args.includes("-h")) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return read();
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    process.exit(2);
  }
}

export function usageOf(command: string, { options = {} }: ParseArgsConfig): string {
  const [name, ...positionals] = command.split(" ");
  const flags = Object.entries(options).map(([option, { type, multiple = false, default: value }]) => {
    const form = type === "boolean" ? `--${option}` : `--${option} ${String(value ?? "VALUE")}`;
    return `[${form}]${multiple ? "..." : ""}`;
  });
  return `usage: npm run ${[name, "--", ...positionals, ...flags].join(" ")}`;
}
