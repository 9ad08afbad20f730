/** Wrong command lines: each message names the thing and the reason, and the next step. */
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { runMain } from "../../test-support/process/main.ts";
import { runUniknode } from "../../test-support/process/uniknode.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-wrong-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const [file, bad, empty, passphrase] = ["file", "bad.json", "empty", "passphrase"].map((name) =>
  join(folder, name),
) as [string, string, string, string];
writeFileSync(file, "not a folder");
writeFileSync(bad, '{"httpPrt": 1}');
writeFileSync(passphrase, "some words\n");
mkdirSync(empty);
/** URL at which nothing listens. */
const NOWHERE = ["--url", "http://127.0.0.1:1", "--timeout", "1"];
const TOKEN = ["--token", "t"];
const SECRET = ["--passphrase-file", passphrase];
const HEX = "ab".repeat(32);
const ADDRESS = "DMS2cbXvEkL6dpPhpi3iLCvtu8bNXZkbJp";

type Row = readonly [args: readonly string[], code: number, what: string, next: string];

const ROWS: readonly Row[] = [
  [[], 2, "Usage: uniknode", "Examples:"],
  [["fly"], 2, "unknown command 'fly'", "uniknode --help"],
  [["statsu"], 2, "unknown command 'statsu'", "Did you mean status?"],
  [["dev", "--fly"], 2, "unknown option '--fly'", "uniknode dev --help"],
  [["dev", "--blocktime", "2"], 2, "unknown option '--blocktime'", "Did you mean --block-time?"],
  [["dev", "surplus"], 2, "too many arguments", "uniknode dev --help"],
  [["dev", "--http-port"], 2, "'--http-port <PORT>' argument missing", "uniknode dev --help"],
  [["dev", "--http-port", "x"], 2, '--http-port: an integer from 0 to 65535 is expected, not "x"', "Port"],
  [["dev", "--block-time", "0"], 2, "--block-time: an integer from 1 to 3600", "Seconds between"],
  [["dev", "--log-level", "loud"], 2, "--log-level: one of", "info"],
  [["dev", "--mnemonic", "no words", "--data", join(folder, "m")], 2, "--mnemonic", "12 to 24 words"],
  [["dev", "--config", join(folder, "none.json")], 2, "none.json cannot be read", "omit --config"],
  [["dev", "--config", bad], 2, `"httpPrt" in ${bad}`, 'did you mean "httpPort"?'],
  [["dev", "--data", file], 2, file, "--data"],
  [["dev", "--reset", "--data", empty], 2, `${empty} does not contain a dev chain`, "--data"],
  [["run"], 2, "no network selected", "--network-dir"],
  [["run", "--network", "moonnet"], 2, "one of livenet, sandbox, dalinet is expected", '"moonnet"'],
  [
    ["run", "--network", "livenet", "--alone"],
    2,
    "genesis block of --network livenet",
    "give --genesis FILE",
  ],
  [["run", "--network-dir", empty], 2, `--network-dir ${empty}`, "network.json"],
  [["run", "--network-dir", empty, "--network", "livenet"], 2, "--network-dir", "omit --network"],
  [["status", ...NOWHERE], 1, "no response", "uniknode dev"],
  [["status", "--url", "node"], 2, "--url: a base URL such as", "http://127.0.0.1:4003"],
  [["status", "--url", "http://user@/node"], 2, "--url: a base URL such as", "http://127.0.0.1:4003"],
  [["status", "--timeout", "0"], 2, "--timeout: an integer from 1", "Timeout in seconds"],
  [["unik"], 2, "missing required argument 'id'", "uniknode unik --help"],
  [["wallet", "show"], 2, "missing required argument 'id'", "uniknode wallet show --help"],
  [["wallet", "new", "--network", "moon"], 2, "--network: one of", "livenet"],
  [
    ["wallet", "address", "--passphrase", "my words"],
    2,
    "unknown option '--passphrase'",
    "--passphrase-file",
  ],
  [["wallet", "address", "--passphrase-file", "/nowhere"], 2, "/nowhere cannot be read", "--passphrase-file"],
  [["wallet", "adress"], 2, "unknown command 'adress'", "Did you mean address?"],
  [["tx"], 2, "Usage: uniknode tx", "Commands:"],
  [["tx", "transfer", "ADDRESS", "many"], 2, "'ADDRESS' is invalid", "uniknode tx transfer --help"],
  [["tx", "vote"], 2, "missing required argument 'delegate'", "uniknode tx vote --help"],
  [["tx", "vote", "x", ...SECRET, ...NOWHERE], 1, "no response", "--url"],
  [["tx", "vote", "x", "--fee", "-1", ...SECRET], 2, "--fee", "12.5"],
  [["tx", "mint", "short", "individual"], 2, "'short' is invalid", "64 hexadecimal digits"],
  [["tx", "update", HEX, ...SECRET, ...NOWHERE], 2, "update:", "--property or --remove"],
  [["tx", "post", join(folder, "none.json")], 2, "none.json", "cannot be read"],
  [["tx", "show", "12"], 2, "'12' is invalid", "64 hexadecimal digits"],
  [["webhooks", "list", "--data", empty], 2, `no running node uses the data folder ${empty}`, "--url"],
  [["status", "--data", empty], 2, `no running node uses the data folder ${empty}`, "--url"],
  [
    ["webhooks", "list", "--data", empty, ...NOWHERE],
    2,
    `${empty} is not the data folder of a node`,
    "--token",
  ],
  [["webhooks", "list", "--url", "http://node.example"], 2, "on another machine", "UNIKNODE_WEBHOOK_TOKEN"],
  [["webhooks", "list", ...TOKEN, ...NOWHERE], 1, "no response", "uniknode dev"],
  [["webhooks", "show", "first", ...TOKEN], 2, "'first' is invalid", "uniknode webhooks list"],
  [["webhooks", "create", "http://127.0.0.1/", ...TOKEN], 2, "missing --event NAME", '"transaction.*"'],
  [
    ["webhooks", "create", "http://127.0.0.1/", "--event", "*", "--condition", "a is b", ...TOKEN],
    2,
    '"is" is not an operator',
    "eq, ne",
  ],
  [["webhooks", "update", "1", ...TOKEN], 2, "nothing to change", "--target"],
  [
    ["webhooks", "retry", "1", ...TOKEN],
    2,
    "give either deliveries, --all-failed or --state",
    "webhooks deliveries 1",
  ],
  [["webhooks", "replay", "1", "--to", "3", ...TOKEN], 2, "--to requires --from", "first block"],
  [
    ["webhooks", "import", "/nowhere.json", "--data", join(folder, "i")],
    2,
    "register file /nowhere.json",
    "cannot be read",
  ],
  [["token", "--data", empty], 2, "is not the data folder of a node", "--data"],
  [["accounts", "--data", empty], 2, "does not contain a dev chain", "uniknode dev"],
  [["init"], 2, "missing required argument 'folder'", "uniknode init --help"],
  [["init", folder], 2, "is not empty", "choose another with uniknode init"],
  [["forger", "why", "--slot", "x"], 2, "'x' is invalid", "A slot number"],
  [["snapshot", "verify", empty, "--network-dir", empty], 2, "--network-dir", "network.json"],
  [
    ["snapshot", "verify", empty, "--dev-chain", empty],
    2,
    `${empty} does not contain a dev chain`,
    "uniknode dev",
  ],
  [["snapshot", "verify", empty, "--dev-chain", empty, "--network", "livenet"], 2, "--dev-chain", "omit"],
  [["export", "--from", "1"], 2, "'1' is invalid", "2 or more"],
  [["trigger"], 2, "missing event name", "uniknode trigger --list"],
  [["trigger", "unik.mintd"], 2, '"unik.mintd" is not an event', "did you mean unik.minted?"],
  [["trigger", "peer.added"], 2, "peer.added cannot be triggered", "docs/guides/own-network.md"],
  [
    ["trigger", "unik.minted", "--data", empty, ...NOWHERE],
    2,
    "does not contain a dev chain",
    "uniknode dev",
  ],
  [["network", "init"], 2, "missing required argument 'folder'", "uniknode network init --help"],
  [["network", "init", folder], 2, "is not empty", "choose another with uniknode network init"],
  [["network", "init", join(folder, "n"), "--name", "A B"], 2, "--name: lower-case letters", '"A B"'],
  [["network", "init", join(folder, "n"), "--nodes", "9"], 2, "--nodes: an integer from 1 to 6", '"9"'],
  [["export", "--data", empty], 2, "no chain selected", "--dev-chain DIR"],
  [["snapshot", "verify", empty], 2, "no chain selected", "--network NAME with --genesis FILE"],
  [["help", "nope"], 2, "unknown command 'nope'", "uniknode --help"],
  [["help", "webhooks", "lst"], 2, "unknown command 'lst'", "Did you mean list?"],
  [["import", join(folder, "none")], 1, "does not exist", "uniknode export"],
  [
    ["wallet", "address", "--passphrase-file", join(folder, "none")],
    2,
    "cannot be read",
    "first line is the passphrase",
  ],
  [
    ["run", "--peers", "203.0.113.7,x"],
    2,
    '--peers: IP addresses are expected; "x" is not one',
    'not "203.0.113.7,x"',
  ],
  [["webhooks", "show", "abc"], 2, "'abc' is invalid", "uniknode webhooks list"],
  [["wallet", "show", "", ...NOWHERE], 2, "an id, a name or a key is expected", '""'],
  [["unik", "..", ...NOWHERE], 2, "an id, a name or a key is expected", '".."'],
  [
    ["webhooks", "list", "--token", "a\nb", ...NOWHERE],
    2,
    "--token: a token of printable ASCII characters",
    "Webhook token",
  ],
  [
    ["dev", "--webhook-token", " padded "],
    2,
    "--webhook-token: a token of printable ASCII characters",
    "without leading or trailing spaces",
  ],
  [["tx", "transfer", ADDRESS, "99999999999"], 2, "92233720368.54775807", "uniknode tx transfer --help"],
  [["tx", "transfer", ADDRESS, "9".repeat(20)], 2, "92233720368.54775807", "uniknode tx transfer --help"],
  [["tx", "vote", "x", "--fee", "99999999999", ...SECRET], 2, "--fee", "92233720368.54775807"],
  [["tx", "post", file], 2, "it is not JSON", "--dry-run --json"],
  [
    ["run", "--network", "livenet", "--genesis", file],
    2,
    "it is not JSON",
    "genesisBlock.json of the network",
  ],
  [["dev", "--delegates", file, "--data", join(folder, "d")], 2, "it is not JSON", "--delegates"],
  [
    ["webhooks", "import", file, "--data", join(folder, "i")],
    2,
    "it is not JSON",
    "webhooks.json of the old node",
  ],
  [
    ["snapshot", "verify", empty, "--network-dir", join(folder, "none")],
    2,
    "missing",
    "uniknode network init",
  ],
  [["completion", "tcsh"], 2, "'tcsh' is invalid", "bash, zsh, fish"],
];

describe("the message for a wrong command line names the error and the next step", () => {
  test.each(ROWS)(
    "The message for a wrong command line names the error and the next step: uniknode %j.",
    async (args, code, what, next) => {
      const result = await runMain(args);
      expect(result).toMatchObject({ code });
      expect(result.stderr).toContain(what);
      expect(result.stderr).toContain(next);
      expect(result.stderr).not.toMatch(/^ +at /m);
      expect(result.stdout).toBe("");
    },
  );

  test("The table has at least forty wrong command lines.", () =>
    expect(ROWS.length).toBeGreaterThanOrEqual(40));
});

describe("a server that is not a node, or not at this URL", () => {
  async function serve(
    respond: (request: IncomingMessage, response: ServerResponse) => void,
  ): Promise<string> {
    const server = createServer(respond).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  const failed = async (url: string) => {
    const { code, stderr } = await runMain(["status", "--url", url]);
    expect({ code, lines: stderr.trim().split("\n").length }, stderr).toEqual({ code: 1, lines: 1 });
    return stderr;
  };

  test("HTTPS at an HTTP port", async () => {
    const address = await serve((_request, response) => response.end("{}"));
    expect(await failed(`https://${address}`)).toMatch(
      /no TLS connection \(ERR_SSL_\w+\); .*--url http:\/\//,
    );
  });

  test("The message about another kind of server, another path or an unknown host names the next step.", async () => {
    const page = await serve((_request, response) => response.end("<html>"));
    expect(await failed(`http://${page}`)).toContain("give the base URL of a node with --url");
    const unknown = await serve((_request, response) =>
      response.writeHead(404, { "error-code": "PATH_UNKNOWN" }).end('{"message":"Not Found"}'),
    );
    expect(await failed(`http://${unknown}/api/v2`)).toContain("give the base URL of a node with --url");
    const silent = await serve(({ socket }) => void socket.end("220 mail\r\n"));
    expect(await failed(`http://${silent}`)).toContain("the server does not respond with HTTP");
    expect(await failed("http://no-such-host.invalid")).toContain("check the host name in --url");
  });

  test("The message about a name that the chain does not have names the next step.", async () => {
    const node = await serve((_request, response) =>
      response.writeHead(404).end('{"message":"Wallet not found"}'),
    );
    expect(await failed(`http://${node}`)).toContain("check the id");
  });
});

test("The real program prints the same message.", async () => {
  const { code, stdout, stderr } = await runUniknode(["webhooks", "lst"]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toBe(
    "error: unknown command 'lst'\n(Did you mean list?)\nuniknode webhooks --help shows usage and examples\n",
  );
});
