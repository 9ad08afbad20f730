/** The declarations of the commands: help, configuration. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command, Help } from "commander";
import { describe, expect, onTestFinished, test } from "vitest";
import { COMMANDS } from "../../src/commands/catalogue.ts";
import { addFlags, readConfig, unknownVariables } from "../../src/commands/flags.ts";
import { columns } from "../../src/commands/print.ts";
import { createProgram, examplesOf } from "../../src/commands/program.ts";
import { connectionOptions } from "../../src/config/connection.ts";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { writeLockHolder } from "../../src/store/engine/lock-holder.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { MetaStore } from "../../src/store/node/meta.ts";
import { SecretCipher } from "../../src/webhooks/secrets.ts";
import { webhookTokenOf } from "../../src/webhooks/sqlite/secrets.ts";
import { runMain } from "../../test-support/process/main.ts";

const program = await createProgram();

/** Every command without subcommands, by its path. */
const leaves = (command: Command, path: readonly string[]): [string, Command][] =>
  command.commands.length === 0
    ? [[path.join(" "), command]]
    : command.commands.flatMap((below) => leaves(below, [...path, below.name()]));

describe("help", () => {
  test.each(leaves(program, []))(
    "%s has a description and an example that names only its own options",
    (path, command) => {
      const { examples } = present(COMMANDS.find(({ name }) => name === path.split(" ")[0]));
      const own = examplesOf(path, examples);
      expect(own).not.toEqual([]);
      expect(command.description()).not.toBe("");
      const flags = command.options.map(({ long }) => long);
      const named = own.flatMap((example) => example.match(/(?<= )--[a-z-]+/g) ?? []);
      expect(flags).toEqual(expect.arrayContaining(named));
    },
  );

  test("The list of commands, which loads none of them, names the arguments that each has.", () => {
    const declared = program.commands.map((command) => new Help().subcommandTerm(command));
    const listed = COMMANDS.map(({ name, usage }) => `${name} ${usage}`.trimEnd());
    expect(listed.toSorted()).toEqual(declared.toSorted());
  });

  test("The help has no example with a passphrase, and no flag accepts one.", () => {
    const flags = leaves(program, []).flatMap(([, { options }]) => options.map(({ long }) => long));
    expect(flags).not.toContain("--passphrase");
    expect(COMMANDS.flatMap(({ examples }) => examples).join("\n")).not.toMatch(/passphrase(?!-file FILE)/);
  });

  test("The command help with the names of a command shows its --help, and starts nothing.", async () => {
    for (const path of [["webhooks", "list"], ["webhooks"], ["init"]]) {
      const { stdout } = await runMain([...path, "--help"]);
      expect(stdout).toContain(`Usage: uniknode ${path.join(" ")}`);
      expect(await runMain(["help", ...path])).toMatchObject({ code: 0, stdout });
    }
    expect(await runMain(["help", "init", "folder"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Usage: uniknode init"),
    });
  });

  test.each(leaves(program, []))("The options of %s are described by sentences.", (_path, command) => {
    const texts = command.options.map(({ description }) => description);
    expect(texts.filter((text) => !/^[A-Z0-9].*\.(?: \[\w+\])?(?: \(default: .*\))?$/.test(text))).toEqual(
      [],
    );
  });

  test("dev --help shows its own options first, and few others; --help all shows every one in groups.", async () => {
    const flags = present(program.commands.find((command) => command.name() === "dev")).options.map(
      ({ long }) => present(long),
    );
    const { code, stdout } = await runMain(["dev", "--help"]);
    expect(code).toBe(0);
    expect(stdout.split("\n").length).toBeLessThan(60);
    expect(stdout).toMatch(/^Usage: uniknode dev \[options\]\n\n.*\n\nDev chain:\n {2}--block-time /);
    expect(stdout).not.toContain("--p2p-rate-limit");
    expect(stdout).toMatch(/\n\d+ more options: uniknode dev --help all\n$/);
    const all = (await runMain(["dev", "--help", "all"])).stdout;
    for (const flag of flags) expect(all).toContain(`  ${flag} `);
    expect(all).toMatch(/Dev chain:[\s\S]*\nData and API:[\s\S]*\nWebhooks and events:[\s\S]*\nPeers:/);
    expect(all).not.toContain("more options");
    for (const args of [
      ["dev", "-h", "all"],
      ["help", "dev", "all"],
    ])
      expect(await runMain(args)).toMatchObject({ code: 0, stdout: all });
  });

  test.each([["run"], ["doctor"], ["config", "run"], ["config", "dev"]])(
    "%s %s is grouped, too",
    async (...path) => {
      const names = path.filter(Boolean);
      const { stdout } = await runMain([...names, "--help"]);
      expect(stdout).toContain(`more options: uniknode ${names.join(" ")} --help all`);
      const all = (await runMain([...names, "--help", "all"])).stdout;
      expect(all).toContain("--p2p-rate-limit");
      expect(all.length).toBeGreaterThan(stdout.length * 2);
    },
  );

  test("-v and --version show what the command version shows", async () => {
    const { code, stdout } = await runMain(["version"]);
    expect(code).toBe(0);
    for (const flag of ["-v", "--version"]) expect(await runMain([flag])).toMatchObject({ code: 0, stdout });
  });
});

describe("config", () => {
  test("The command config shows each option with its value and source, without secrets.", async () => {
    const { stdout } = await runMain([
      "config",
      "dev",
      "--json",
      "--http-port",
      "5",
      "--webhook-token",
      "hidden",
    ]);
    const rows = JSON.parse(stdout) as { option: string }[];
    const row = (name: string) => rows.find(({ option }) => option === name);
    expect(row("httpPort")).toEqual({
      option: "httpPort",
      value: 5,
      origin: "argument",
      source: "--http-port",
    });
    expect(row("blockTime")).toEqual({ option: "blockTime", value: 2, origin: "default" });
    expect(row("webhookToken")).toMatchObject({ value: "***", origin: "argument" });
    expect(stdout).not.toContain("hidden");
  });

  test("The command config ends with the versions of protocol and program.", async () => {
    const { stdout } = await runMain(["config", "dev"]);
    expect(stdout).toMatch(/^OPTION +VALUE +ORIGIN\n/);
    expect(stdout).toMatch(/\n\nuniknode 5\.7\.2 protocol, \d+\.\d+\.\d+ program \(Node\.js .*\)\n$/);
  });

  test("--check names all errors at once", async () => {
    const args = ["config", "dev", "--check", "--http-port", "x", "--block-time", "0"];
    const { code, stderr } = await runMain(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(/--http-port: an integer[\s\S]*--block-time: an integer/);
    expect(await runMain(["config", "dev", "--check"])).toMatchObject({ code: 0 });
  });

  test("--check refuses what a start refuses: a missing genesis block without peers, and a peer with another port.", async () => {
    const check = (...more: string[]) =>
      runMain(["config", "run", "--check", "--network", "livenet", "--data", "/nowhere", ...more]);
    expect(await check()).toMatchObject({ code: 0 });
    expect(await check("--alone")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("give --genesis FILE"),
    });
    expect(await check("--peers", "203.0.113.7:4001")).toMatchObject({ code: 0 });
    expect(await check("--peers", "203.0.113.7:4002")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--peers 203.0.113.7:4002"),
    });
  });
});

/** Sets environment variables for the current test. */
function variables(values: Record<string, string>): void {
  for (const [name, value] of Object.entries(values)) process.env[name] = value;
  onTestFinished(() => {
    for (const name of Object.keys(values)) delete process.env[name];
  });
}

test("A data folder that is an argument takes precedence over a base URL and a token of the environment.", async () => {
  const data = mkdtempSync(join(tmpdir(), "uniknode-precedence-"));
  onTestFinished(() => rmSync(data, { recursive: true }));
  writeLockHolder(join(data, "lock.sqlite"), { pid: process.pid, url: "http://127.0.0.1:4999" });
  const database = openDatabase(join(data, "node.sqlite"));
  migrate(database);
  const token = webhookTokenOf(undefined, new MetaStore(database), new SecretCipher(undefined));
  database.close();
  const urlOf = (...args: string[]) => {
    const command = addFlags(new Command(), connectionOptions);
    return readConfig(command.parse(args, { from: "user" }), connectionOptions).url;
  };
  variables({ UNIKNODE_URL: "http://192.0.2.1:4003", UNIKNODE_WEBHOOK_TOKEN: "of the environment" });
  expect(urlOf("--data", data)).toBe("http://127.0.0.1:4999");
  expect(urlOf("--data", data, "--url", "http://127.0.0.1:5000")).toBe("http://127.0.0.1:5000");
  expect(urlOf()).toBe("http://192.0.2.1:4003");
  expect(await runMain(["token", "--data", data])).toMatchObject({ code: 0, stdout: `${token}\n` });
  variables({ UNIKNODE_DATA: data });
  expect(urlOf()).toBe("http://192.0.2.1:4003");
  expect(await runMain(["token"])).toMatchObject({ code: 0, stdout: "of the environment\n" });
});

describe("unused environment variables", () => {
  test("Unused environment variables cause one warning, with the name that is probably meant, and without their value.", async () => {
    variables({ UNIKNODE_HTTP_PROT: "5", UNIKNODE_TOKEN: "hidden", UNIKNODE_XYZZYX: "1" });
    const { code, stderr } = await runMain(["config", "dev"]);
    expect(code).toBe(0);
    expect(stderr.match(/^uniknode: warning: /gm)).toHaveLength(3);
    expect(stderr).toContain(
      "UNIKNODE_HTTP_PROT is unknown and has no effect; did you mean UNIKNODE_HTTP_PORT?",
    );
    expect(stderr).toContain(
      "UNIKNODE_TOKEN is unknown and has no effect; did you mean UNIKNODE_WEBHOOK_TOKEN?",
    );
    expect(stderr).toContain("UNIKNODE_XYZZYX is unknown and has no effect; docs/reference/configuration.md");
    expect(stderr).not.toContain("hidden");
  });

  test("Unused environment variables make config --check fail, with all other errors.", async () => {
    variables({ UNIKNODE_P2P_PROT: "5" });
    const { code, stderr } = await runMain(["config", "run", "--check", "--http-port", "x"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/--http-port: an integer[\s\S]*did you mean UNIKNODE_P2P_PORT\?/);
    expect(stderr).not.toContain("warning");
  });

  test("Unused environment variables do not include the variables of any command, nor of the passphrases.", async () => {
    const known = leaves(program, []).flatMap(([, { options }]) =>
      options.flatMap(({ description }) => /\[(UNIKNODE_\w+)\]/.exec(description)?.[1] ?? []),
    );
    expect(known.length).toBeGreaterThan(100);
    const more = [
      "UNIKNODE_PASSPHRASE",
      "UNIKNODE_SECOND_PASSPHRASE",
      "UNIKNODE_FORGER_SECRETS",
      "UNIKNODE_STACK",
    ];
    const environment = Object.fromEntries([...known, ...more].map((name) => [name, "1"]));
    expect(await unknownVariables(environment, createProgram)).toEqual([]);
    expect(
      await unknownVariables(
        { UNIKNODE_: "", UNIKNODE_HTTP: "", uniknode_data: "", CORE_X: "" },
        createProgram,
      ),
    ).toHaveLength(2);
  });
});

test("Tables are cut to the width of the terminal in their widest columns only.", () => {
  const rows = [["1", "a".repeat(40), "short"]];
  expect(columns(["ID", "LONG", "END"], rows, undefined)[1]).toBe(`1   ${"a".repeat(40)}  short`);
  // A terminal can have an unknown width.
  expect(columns(["ID", "LONG", "END"], rows, 0)[1]).toBe(`1   ${"a".repeat(40)}  short`);
  expect(columns(["ID", "LONG", "END"], rows, 30)[1]).toBe(`1   ${"a".repeat(18)}…  short`);
});
