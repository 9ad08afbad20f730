/** Blocked threads: health reports them, and systemd gets no more watchdog messages. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { castOf, DEV_ADDRESS_VERSION, devGenesis } from "../../src/dev-chain/network.ts";
import { Systemd } from "../../src/platform/lifecycle/systemd.ts";
import { missingProgram, skips } from "../../test-support/process/available.ts";
import { writeNetwork } from "../../test-support/process/network.ts";
import { spawnUniknode } from "../../test-support/process/uniknode.ts";
import { newFolder, startFaulty } from "./faulty.ts";

const POLL = { interval: 200 };
const MNEMONIC = "test test test test test test test test test test test junk";

test("Consensus that hangs is reported after 10 s, and so is its recovery.", async () => {
  const node = await startFaulty({ stdout: "pipe", stderr: "pipe" });
  const health = async (path: string) => {
    const response = await fetch(`${node.url}/health/${path}`);
    return `${response.status} ${await response.text()}`;
  };
  expect(await health("live")).toBe('200 {"status":"live"}');
  await node.fail("hang", "consensus", "released");
  await expect.poll(() => health("live"), POLL).toMatch(/^503 .*has been blocked for \d+ s/);
  expect(await health("ready")).toMatch(/^503 .*has been blocked for \d+ s/);
  writeFileSync(join(node.folder, "released"), "");
  await expect.poll(() => health("live"), POLL).toMatch(/^200 /);
  await expect.poll(() => health("ready"), POLL).toMatch(/^200 /);
  await expect
    .poll(node.stderr)
    .toMatch(/"thread":"consensus","seconds":\d+,"msg":"the consensus thread has not responded for \d+ s"/);
  await node.forgesOn();
});

const isSkipped = skips(missingProgram("systemd-notify") ?? missingProgram("perl"));

const LISTEN = `use IO::Socket::UNIX; use Socket; $| = 1;
my $socket = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $ARGV[0]) or die;
print "listening\\n"; while (defined $socket->recv(my $text, 4096)) { print "$text\\n" if length $text }`;

/** Notifications to systemd. */
async function listenAsSystemd(): Promise<{ path: string; messages: () => string[] }> {
  const path = join(newFolder(), "notify");
  const listener = spawn("perl", ["-e", LISTEN, path], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void listener.kill());
  let text = "";
  listener.stdout.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  await once(listener.stdout, "data");
  return {
    path,
    messages: () => text.split("\n").filter((line) => /^(READY|WATCHDOG|STOPPING)=/.test(line)),
  };
}

test.skipIf(isSkipped)("The program notifies systemd that the node is ready, alive and ending.", async () => {
  const { path, messages } = await listenAsSystemd();
  const { block, files } = devGenesis(castOf(deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION), 1), 8);
  const networkDir = join(newFolder(), "network");
  writeNetwork(networkDir, { block, files });
  const node = spawnUniknode(
    ["run", "--network-dir", networkDir, "--alone", "--data", newFolder(), "--http-port", "0"],
    { environment: { NOTIFY_SOCKET: path, WATCHDOG_USEC: "1000000" } },
  );
  onTestFinished(() => void node.child.kill("SIGKILL"));
  await expect.poll(messages).toContain("READY=1");
  // Each message is sent by a process of its own.
  const alive = () => messages().filter((message) => message === "WATCHDOG=1").length;
  await expect.poll(alive, POLL).toBeGreaterThan(1);
  node.child.kill("SIGTERM");
  expect((await node.ended).code).toBe(0);
  await expect.poll(messages).toContain("STOPPING=1");
});

test.skipIf(isSkipped)(
  "The program sends no watchdog message to systemd if the serving thread hangs.",
  async () => {
    const { path, messages } = await listenAsSystemd();
    let isAlive = true;
    const asked = { alive: 0, hanging: 0 };
    const systemd = new Systemd({
      environment: { ...process.env, NOTIFY_SOCKET: path, WATCHDOG_USEC: "400000", WATCHDOG_PID: undefined },
      isAlive() {
        asked[isAlive ? "alive" : "hanging"]++;
        return isAlive;
      },
      logger: { warn: (...line: unknown[]) => expect(line).toEqual([]) },
    });
    systemd.ready();
    await expect.poll(messages, POLL).toContain("WATCHDOG=1");
    isAlive = false;
    await expect.poll(() => asked.hanging, POLL).toBeGreaterThan(3);
    systemd.stopping();
    await expect.poll(messages, POLL).toContain("STOPPING=1");
    const sent = messages().filter((message) => message === "WATCHDOG=1");
    expect(sent.length).toBeLessThanOrEqual(asked.alive);
  },
);

test("A watchdog message that fails is followed by two others in time.", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const isAlive = () => ++asked > 0;
  const systemd = new Systemd({ environment: { WATCHDOG_USEC: "60000000" }, isAlive, logger: { warn() {} } });
  systemd.ready();
  vi.advanceTimersByTime(59_000);
  systemd.stopping();
  expect(asked).toBe(3);
});

test.skipIf(isSkipped)("A node that systemd did not start sends no notification.", () => {
  const logger = { warn: (...line: unknown[]) => expect(line).toEqual([]) };
  new Systemd({ environment: {}, isAlive: () => true, logger }).ready();
});
