/** The commands for daily work, with a running chain. Those that a terminal would change run in a process without one. */
import { spawn } from "node:child_process";
import { hash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, createClient } from "@uniknode/client";
import { addressFromPublicKey, presets } from "@uniknode/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DevAccount, deriveAccounts } from "../../src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../src/dev-chain/network.ts";
import { present } from "../../src/platform/present.ts";
import { freePort } from "../../test-support/peers/world.ts";
import { missingProgram, skips } from "../../test-support/process/available.ts";
import { runMain } from "../../test-support/process/main.ts";
import {
  apiUrlOf,
  type Ended,
  type Running,
  runUniknode,
  spawnUniknode,
} from "../../test-support/process/uniknode.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";

const people = deriveAccounts(
  "test test test test test test test test test test test junk",
  DEV_ADDRESS_VERSION,
);
const [alice, bob, carol, dave] = [0, 1, 2, 3].map((index) => people(`account ${index}`)) as [
  DevAccount,
  DevAccount,
  DevAccount,
  DevAccount,
];
const factory = people("factory");
const [unregistered, delegate] = [people("account 4"), people("delegate 0")];
const TOKEN = "daily-test";
const PROGRAM = fileURLToPath(new URL("../../bin/uniknode.js", import.meta.url));
const SCRIPT = "/usr/bin/script";
const folder = mkdtempSync(join(tmpdir(), "uniknode-daily-"));

let node: Running;
let url: string;
let client: Client;

beforeAll(async () => {
  const data = join(folder, "data");
  node = spawnUniknode(["dev", "--data", data, "--http-port", "0", "--instant", "--webhook-token", TOKEN]);
  url = await apiUrlOf(node);
  await node.printed(/Ctrl-C stops/);
  client = createClient({ url, webhookToken: TOKEN, timeoutMs: WAIT_MS });
});

afterAll(async () => {
  node.child.kill("SIGKILL");
  await node.ended;
  rmSync(folder, { recursive: true, force: true });
});

const run = (args: readonly string[], environment: Record<string, string> = {}): Promise<Ended> =>
  runMain(args, { UNIKNODE_URL: url, ...environment });

/** Runs a command that would prompt at a terminal: its process has none. */
const runDetached = (args: readonly string[], environment: Record<string, string> = {}): Promise<Ended> =>
  runUniknode(args, { environment: { UNIKNODE_URL: url, ...environment } });

/** Output of the command with `--json`. */
async function json(args: readonly string[], environment: Record<string, string> = {}) {
  const { code, stdout, stderr } = await run([...args, "--json"], environment);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return JSON.parse(stdout) as Record<string, unknown>;
}

const as = ({ passphrase }: DevAccount) => ({ UNIKNODE_PASSPHRASE: passphrase });

/** Sends and waits; returns the transaction as the chain has it. */
async function forged(args: readonly string[], environment: Record<string, string>) {
  const { id, state, blockId } = await json(["tx", ...args, "--wait"], environment);
  expect(state).toBe("forged");
  const { data } = await client.transactions.get(id as string);
  expect(data.blockId).toBe(blockId);
  return data;
}

const newUnik = () => randomBytes(32).toString("hex");

describe("show", () => {
  test("The show commands print the node and its chain.", async () => {
    const { data: head } = await client.blockchain.get();
    expect(await json(["status"])).toMatchObject({
      height: head.block.height,
      synced: true,
      token: "devunik",
    });
    const { stdout } = await run(["status"]);
    expect(stdout).toMatch(/^height\s+\d+\nblock\s+[0-9a-f]+\nsynced\s+yes\n/);
  });

  test("The show commands find the URL of the node in a data folder.", async () => {
    const data = ["--data", join(folder, "data")];
    // No URL of the environment of the tests.
    const { stdout } = await runMain(["status", ...data]);
    expect(stdout).toMatch(/^height\s+\d+\n/);
    for (const args of [
      ["block"],
      ["wallet", "show", alice.address],
      ["tx", "vote", delegate.unikId, "--dry-run"],
      ["console", "--token", TOKEN],
    ]) {
      const { code, stderr } = await runMain([...args, ...data], as(alice));
      expect({ code, stderr }, args.join(" ")).toEqual({ code: 0, stderr: "" });
    }
  });

  test("The show commands print a block by height, by id, and the last one.", async () => {
    const second = await json(["block", "2"]);
    expect(second).toMatchObject({ height: 2 });
    expect(await json(["block", second.id as string])).toMatchObject({ id: second.id });
    expect(await json(["block"])).toMatchObject({
      height: (await client.blockchain.get()).data.block.height,
    });
    expect((await run(["block", "1"])).stdout).toMatch(/^height\s+1\n/);
  });

  test("The show commands print a unik and a wallet.", async () => {
    const unik = await json(["unik", alice.unikId]);
    expect(unik).toMatchObject({ id: alice.unikId, ownerId: alice.address, properties: { type: "1" } });
    expect((await run(["unik", alice.unikId])).stdout).toContain("type          individual\n");
    const wallet = await json(["wallet", "show", alice.address]);
    expect(wallet).toMatchObject({ address: alice.address, publicKey: alice.publicKey });
    expect((await run(["wallet", "show", alice.publicKey])).stdout).toContain(alice.unikId);
  });

  test("The show commands end with code 1 for unknown objects.", async () => {
    const { code, stderr } = await run(["block", "999999999"]);
    expect([code, stderr]).toEqual([
      1,
      "uniknode: GET /api/blocks/999999999: Block not found (HTTP 404); check the id, and that the node at --url belongs to the right network\n",
    ]);
  });

  test("The show commands print nothing else for an unknown name.", async () => {
    for (const args of [
      ["block", ""],
      ["wallet", "show", "."],
      ["unik", ".."],
      ["tx", "vote", ""],
    ]) {
      const { code, stdout, stderr } = await run(args, as(alice));
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain("an id, a name or a key is expected");
    }
  });

  test("The show commands end with code 1 if the node does not run.", async () => {
    const { code, stderr } = await run(["status", "--url", `http://127.0.0.1:${await freePort()}`]);
    expect(code).toBe(1);
    expect(stderr).toContain("ECONNREFUSED");
  });
});

describe("wallets", () => {
  test("Wallets are created from new words each time, for the network of the node or a named one.", async () => {
    const [first, second] = [await json(["wallet", "new"]), await json(["wallet", "new"])];
    expect((first.passphrase as string).split(" ")).toHaveLength(12);
    expect(first.passphrase).not.toBe(second.passphrase);
    const environment = { UNIKNODE_PASSPHRASE: first.passphrase as string };
    const { address, publicKey } = first;
    expect(await json(["wallet", "address"], environment)).toEqual({ address, publicKey });
    const elsewhere = await json(
      ["wallet", "address", "--network", "livenet", "--url", "http://127.0.0.1:1"],
      environment,
    );
    expect(elsewhere).toEqual({ address: expect.stringMatching(/^U/), publicKey });
  });

  test("The wallet command prints the address for a passphrase in a file or in the environment.", async () => {
    const file = join(folder, "alice");
    writeFileSync(file, `${alice.passphrase}\n`);
    const { address, publicKey } = alice;
    expect(await json(["wallet", "address", "--passphrase-file", file], as(bob))).toEqual({
      address,
      publicKey,
    });
    expect(await json(["wallet", "address"], as(alice))).toEqual({ address, publicKey });
  });

  // A program that gives others a terminal.
  test.skipIf(skips(missingProgram(SCRIPT)))(
    "The wallet command prompts at a terminal, and shows nothing of the typed text.",
    async () => {
      const command = `"${process.execPath}" "${PROGRAM}" wallet address --network livenet`;
      const terminal = spawn(SCRIPT, ["-qec", command, "/dev/null"], { stdio: ["pipe", "pipe", "inherit"] });
      let shown = "";
      terminal.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        if (!shown.includes("passphrase: ") && (shown + chunk).includes("passphrase: ")) {
          terminal.stdin.end(`${alice.passphrase}\n`);
        }
        shown += chunk;
      });
      await once(terminal, "close");
      expect(shown).toContain(alice.publicKey);
      expect(shown).not.toContain(alice.passphrase);
    },
  );

  test("The wallet command without any passphrase names the ways to give one, with code 2.", async () => {
    for (const args of [
      ["wallet", "address"],
      ["tx", "transfer", bob.address, "1"],
    ]) {
      const { code, stderr } = await runDetached(args);
      expect(code).toBe(2);
      expect(stderr).toContain("give --passphrase-file FILE, set UNIKNODE_PASSPHRASE");
    }
    const { code, stderr } = await run(["wallet", "address", "--passphrase-file", "/nowhere"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--passphrase-file /nowhere cannot be read")]);
    const empty = await run(["wallet", "address"], { UNIKNODE_PASSPHRASE: "" });
    expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining("UNIKNODE_PASSPHRASE is empty")]);
  });
});

describe("payments", () => {
  test("A transfer is sent with message and fee.", async () => {
    const stranger = people("a stranger").address;
    const args = ["transfer", stranger, "12.5", "--vendor-field", "rent", "--fee", "0.3"];
    expect(await forged(args, as(alice))).toMatchObject({
      recipient: stranger,
      amount: 1_250_000_000,
      fee: 30_000_000,
      vendorField: "rent",
    });
    expect(await json(["wallet", "show", stranger])).toMatchObject({ balance: 1_250_000_000 });
  });

  test("A transfer prints fee, state and other members as text.", async () => {
    const { stdout, code } = await run(["tx", "transfer", bob.address, "1", "--wait"], as(alice));
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^id\s+[0-9a-f]{64}\namount\s+1\nfee\s+0\.1\nnonce\s+\d+\nstate\s+forged in block [0-9a-f]+\n$/,
    );
  });

  test("A message with terminal control characters is only shown.", async () => {
    const message = "rent\u001b[2J\u009b2J\nstate         forged";
    const { id } = await forged(["transfer", bob.address, "1", "--vendor-field", message], as(alice));
    const { stdout } = await run(["tx", "show", id]);
    expect(stdout).toMatch(/^message\s+rent\\u001b\[2J\\u009b2J\\u000astate {9}forged$/m);
    expect(await json(["tx", "show", id])).toMatchObject({ vendorField: message });
  });

  test("A multi-payment pays several addresses at once.", async () => {
    const payments = [`${bob.address}=1`, `${carol.address}=2.5`];
    expect((await forged(["multi-payment", ...payments], as(alice))).asset).toEqual({
      payments: [
        { recipientId: bob.address, amount: "100000000" },
        { recipientId: carol.address, amount: "250000000" },
      ],
    });
  });

  test("A transfer is signed offline and sent later.", async () => {
    const signed = await json(["tx", "transfer", bob.address, "3", "--dry-run"], as(carol));
    expect(signed).toMatchObject({ state: "signed", transaction: { amount: "300000000" } });
    const file = join(folder, "signed.json");
    writeFileSync(file, JSON.stringify(signed));
    expect(await json(["tx", "post", file, "--wait"])).toMatchObject({ id: signed.id, state: "forged" });
    // A sender that repeats it must not conclude that the payment failed, and pay again.
    expect(await json(["tx", "post", file])).toMatchObject({ id: signed.id, state: "forged" });
  });

  test("Amounts are locked, claimed with the secret, and refunded after their expiration.", async () => {
    const secret = "5f".repeat(32);
    const secretHash = hash("sha256", Buffer.from(secret, "hex"));
    const heightIn = async (blocks: number) => (await client.blockchain.get()).data.block.height + blocks;
    const lock = ["lock", bob.address, "2", secretHash, "--until-height"];
    const first = await forged([...lock, `${await heightIn(100)}`], as(alice));
    expect(first).toMatchObject({ type: 8, amount: 200_000_000, asset: { lock: { secretHash } } });
    const claim = { lockTransactionId: first.id, unlockSecret: secret };
    expect((await forged(["claim", first.id, secret], as(bob))).asset).toEqual({ claim });

    // It must last longer than a round.
    const second = await forged([...lock, `${await heightIn(20)}`], as(alice));
    const early = await run(["tx", "refund", second.id], as(alice));
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("ERR_APPLY")]);
    await client.dev.mine({ blocks: 20 });
    const refund = { lockTransactionId: second.id };
    expect((await forged(["refund", second.id], as(alice))).asset).toEqual({ refund });

    const byTime = ["lock", bob.address, "2", secretHash, "--until-time", "7", "--dry-run"];
    const { transaction } = await json(["tx", ...byTime], as(alice));
    expect(transaction).toMatchObject({ asset: { lock: { expiration: { type: 1, value: 7 } } } });
  });
});

describe("fees", () => {
  test("A fee far above the usual one is not paid without a confirmation.", async () => {
    const args = ["transfer", bob.address, "1", "--fee", "5000"];
    const { code, stderr } = await runDetached(["tx", ...args], as(alice));
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("would pay a fee of 5000 DEVUNIK; the usual one is 0.1."),
    ]);
    expect(stderr).toContain("--dry-run --json");
    expect(await json(["tx", ...args, "--dry-run"], as(alice))).toMatchObject({
      transaction: { fee: "500000000000" },
    });
  });

  test("A fee that is too low is refused with the minimum, which suffices.", async () => {
    const low = ["transfer", bob.address, "1", "--fee", "0.00000001"];
    const { code, stderr } = await run(["tx", ...low], as(alice));
    expect([code, stderr]).toEqual([1, expect.stringContaining("ERR_LOW_FEE")]);
    const [, fee = ""] = /the fee must be at least (\S+) DEVUNIK/.exec(stderr) ?? [];
    await forged([...low.slice(0, -1), fee], as(alice));
  });
});

describe("votes and delegates", () => {
  test("A wallet votes for a delegate by the id of its unik, and withdraws the vote again.", async () => {
    const { asset } = await forged(["vote", delegate.unikId], as(alice));
    expect(asset).toEqual({ votes: [`+${delegate.publicKey}`] });
    expect(await json(["wallet", "show", alice.address])).toMatchObject({ vote: delegate.publicKey });
    expect((await forged(["unvote"], as(alice))).asset).toEqual({ votes: [`-${delegate.publicKey}`] });
    const { code, stderr } = await run(["tx", "unvote"], as(alice));
    expect([code, stderr]).toEqual([
      1,
      `uniknode: ${alice.address} has no vote to withdraw; is the passphrase correct?\n`,
    ]);
  });

  test("A delegate registers under the first unik of the wallet, gets a vote by its displayed name, and resigns.", async () => {
    const factoryKeys = { UNIKNODE_FACTORY_PASSPHRASE: factory.passphrase };
    await forged(["disclose", bob.unikId, "bob", "--factory", factory.unikId], {
      ...as(bob),
      ...factoryKeys,
    });
    const { asset } = await forged(["register-delegate"], as(bob));
    expect(asset).toEqual({ delegate: { username: bob.unikId } });
    const { transaction } = await json(["tx", "vote", "Bob", "--dry-run"], as(alice));
    expect(transaction).toMatchObject({ asset: { votes: [`+${bob.publicKey}`] } });
    await forged(["resign-delegate"], as(bob));
    expect(await json(["wallet", "show", bob.address])).toMatchObject({ isDelegate: true, isResigned: true });
    const { code, stderr } = await run(["tx", "register-delegate"], as(people("account 9")));
    expect([code, stderr]).toEqual([1, expect.stringContaining("owns no unik")]);
  });
});

describe("uniks", () => {
  test("A unik is minted, changed and given away.", async () => {
    const unik = newUnik();
    await forged(["mint", unik, "organization", "--property", "usr/shape=round"], as(unregistered));
    expect(await json(["unik", unik])).toMatchObject({ type: "2", properties: { "usr/shape": "round" } });
    const change = ["--property", "usr/color=a=b", "--remove", "usr/shape"];
    await forged(["update", unik, ...change], as(unregistered));
    const { properties } = await json(["unik", unik]);
    expect(properties).toMatchObject({ "usr/color": "a=b" });
    expect(properties).not.toHaveProperty("usr/shape");
    await forged(["transfer-unik", unik, alice.address], as(unregistered));
    expect(await json(["unik", unik])).toMatchObject({ ownerId: alice.address });
  });

  test("A unik is minted with the certificate of a factory, and with a disclosed name.", async () => {
    const unik = newUnik();
    const certified = ["--factory", factory.unikId];
    const environment = { ...as(unregistered), UNIKNODE_FACTORY_PASSPHRASE: factory.passphrase };
    const mint = await forged(["mint", unik, "individual", ...certified, "--cost", "2"], environment);
    expect(mint).toMatchObject({ typeGroup: 2001, type: 3, amount: 200_000_000, recipient: factory.address });
    const update = await forged(["update", unik, "--property", "usr/a=b", ...certified], environment);
    expect(update).toMatchObject({ typeGroup: 2001, type: 4 });
    const name = `daily-${unik.slice(0, 8)}`;
    await forged(["disclose", unik, name, ...certified], environment);
    expect(await json(["unik", unik])).toMatchObject({ explicitValues: [name] });
    const transfer = await forged(["transfer-unik", unik, carol.address, ...certified], environment);
    expect(transfer).toMatchObject({ typeGroup: 2001, type: 6 });
  });

  test("A unik is not disclosed by a wallet that never sent anything: the message names the remedy.", async () => {
    const unik = newUnik();
    const silent = people("unused account");
    await forged(["mint", unik, "individual"], as(unregistered));
    await forged(["transfer-unik", unik, silent.address], as(unregistered));
    const environment = { ...as(silent), UNIKNODE_FACTORY_PASSPHRASE: factory.passphrase };
    const disclose = ["tx", "disclose", unik, "name", "--factory", factory.unikId];
    const { code, stderr } = await run(disclose, environment);
    expect([code, stderr]).toEqual([1, expect.stringContaining("send any other transaction first")]);
  });
});

describe("second passphrases and files", () => {
  test("A second passphrase makes transactions of the wallet need both.", async () => {
    const second = { UNIKNODE_SECOND_PASSPHRASE: "another secret" };
    await forged(["second-signature"], { ...as(dave), ...second });
    const pay = ["transfer", bob.address, "1"];
    expect((await forged(pay, { ...as(dave), ...second })).signSignature).toMatch(/^[0-9a-f]+$/);
    const missing = await runDetached(["tx", ...pay], as(dave));
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("no second passphrase")]);
    const wrong = await run(["tx", ...pay], { ...as(dave), UNIKNODE_SECOND_PASSPHRASE: "wrong" });
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("wrong second passphrase")]);
  });

  test("A transaction records the hash of a file.", async () => {
    const hash = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG";
    expect((await forged(["ipfs", hash], as(carol))).asset).toEqual({ ipfs: hash });
  });
});

describe("waiting", () => {
  test("A wait between transactions is not needed: each transaction follows the pending ones of the wallet.", async () => {
    await client.dev.forge({ enabled: false });
    await json(["tx", "transfer", bob.address, "1"], as(carol));
    const next = await json(["tx", "transfer", bob.address, "2"], as(carol));
    const { data: waiting } = await client.transactions.unconfirmed().page();
    expect(waiting.map(({ amount }) => amount)).toEqual(["100000000", "200000000"]);
    expect(await json(["tx", "show", next.id as string])).toMatchObject({
      amount: "200000000",
      confirmations: 0,
    });
    const { data: mined } = await client.dev.mine();
    await client.dev.forge({ enabled: true });
    const { data: forged } = await client.transactions.get(next.id as string);
    expect(forged.blockId).toBe(mined.head.id);
    const { stdout } = await run(["tx", "show", next.id as string]);
    expect(stdout).toMatch(/^type\s+transfer$/m);
    expect(stdout).toMatch(new RegExp(`^state\\s+forged in block ${mined.head.id}, 1 confirmations$`, "m"));
  });
});

/** Address on livenet. */
const FOREIGN = addressFromPublicKey(bob.publicKey, present(presets.livenet).network.pubKeyHash);

describe("an invalid transaction", () => {
  test("An invalid transaction is refused by the node with its reason: code 1.", async () => {
    const poor = { UNIKNODE_PASSPHRASE: "this account was never funded" };
    const { code, stderr, stdout } = await run(["tx", "transfer", bob.address, "1"], poor);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^uniknode: the node refused [0-9a-f]{64}: .*\(ERR_APPLY\)\n$/);
    expect(stderr).toMatch(
      /insufficient balance: wallet D\w{33} has 0 \w+ but needs 1\.1 \w+; fund the wallet first, or check the pass/,
    );
  });

  test("The message names wallet, balance and total of payments, with a mistyped passphrase or an empty wallet.", async () => {
    const mistyped = { UNIKNODE_PASSPHRASE: `${alice.passphrase.slice(0, -1)}x` };
    const several = ["tx", "multi-payment", `${bob.address}=2`, `${alice.address}=3.5`];
    for (const [args, needed] of [
      [several, "5\\.[5-9]"],
      [["tx", "ipfs", `Qm${"a".repeat(44)}`], "\\d"],
    ] as const) {
      const { code, stderr } = await run([...args], mistyped);
      expect(code).toBe(1);
      expect(stderr).toMatch(new RegExp(`wallet D\\w{33} has 0 \\w+ but needs ${needed}`));
    }
    const { stderr } = await run(["tx", "transfer", bob.address, "999999999"], as(alice));
    expect(stderr).toMatch(new RegExp(`wallet ${alice.address} has [\\d.]+ \\w+ but needs 999999999\\.1 `));
  });

  test.each([
    [["transfer", "unknown", "1"], "an address is expected"],
    [["transfer", bob.address.replace(/.$/, (last) => (last === "a" ? "b" : "a")), "1"], "invalid checksum"],
    [["transfer", FOREIGN, "1"], `${FOREIGN} is an address of another network`],
    [["multi-payment", `${bob.address}=1`, `${FOREIGN}=1`], `${FOREIGN} is an address of another network`],
    // The chain would accept it, and the amount would be lost permanently.
    [["transfer-unik", alice.unikId, FOREIGN], `${FOREIGN} is an address of another network`],
    [
      ["transfer", bob.address, "1", "--vendor-field", "é".repeat(128)],
      "up to 255 bytes are expected, not 256",
    ],
    [["transfer", bob.address], "missing required argument 'amount'"],
    [
      ["transfer", bob.address, "1", "--fee", "much"],
      "--fee: an amount in tokens with up to 8 decimals is expected",
    ],
    [["transfer", bob.address, "1", "--passphrase", "x"], "unknown option '--passphrase'"],
    [["multi-payment", `${bob.address}=1`], "at least two ADDRESS=AMOUNT"],
    [
      ["multi-payment", ...Array.from({ length: 129 }, () => `${bob.address}=0.01`)],
      "at most 128 payments are allowed, not 129",
    ],
    [["lock", bob.address, "1", "ab".repeat(32)], "exactly one of --until-height and --until-time"],
    [["ipfs", "nope"], "the multihash of a file is expected"],
    [["transfer", bob.address, "0"], "more than 0"],
    [["mint", newUnik(), "human"], "individual, organization or network is expected"],
    [["update", newUnik()], "at least one --property or --remove is required"],
    [["mint", newUnik(), "individual", "--property", "type=2"], "the type is the second argument"],
    [["mint", newUnik(), "individual", "--cost", "2"], "--cost requires --factory"],
    [["update", newUnik(), "--property", "a=1", "--remove", "a"], "a cannot be both set and removed"],
    [["disclose", newUnik(), "name"], "required option '--factory <UNIK>'"],
    [["post", "/nowhere"], "/nowhere cannot be read"],
  ])("A usage error ends the command: tx %j ends with code 2.", async (args, message) => {
    const { code, stderr } = await run(["tx", ...args], as(alice));
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });
});
