/** `uniknode network init`, and two real nodes on its network. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { presets } from "@uniknode/protocol";
import { afterAll, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { freePort } from "../../test-support/peers/world.ts";
import { runMain } from "../../test-support/process/main.ts";
import { type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";

const parent = mkdtempSync(join(tmpdir(), "uniknode-own-"));
const folder = join(parent, "my-network");
const running: Running[] = [];

afterAll(async () => {
  for (const { child, ended } of running) {
    child.kill("SIGKILL");
    await ended;
  }
  rmSync(parent, { recursive: true, force: true });
});

test("The folder has the network for every node, and secret keys for each.", async () => {
  const args = ["network", "init", folder, "--name", "my-network", "--nodes", "2", "--block-time", "1"];
  const { code, stdout, stderr } = await runMain(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(`uniknode run --network-dir ${folder} --delegates ${folder}/delegates-2.json`);
  const secret = ["accounts.json", "delegates-1.json", "delegates-2.json"];
  expect(readdirSync(folder).sort()).toEqual(
    [...secret, "exceptions.json", "genesisBlock.json", "milestones.json", "network.json"].sort(),
  );
  for (const file of secret) expect(statSync(join(folder, file)).mode & 0o077).toBe(0);
  const shares = secret.slice(1).map((file) => {
    const { secrets } = JSON.parse(readFileSync(join(folder, file), "utf8")) as { secrets: string[] };
    return secrets;
  });
  expect(shares.map(({ length }) => length)).toEqual([3, 3]);
  expect(new Set(shares.flat()).size).toBe(6);
});

test("The files are accepted by nodes of the reference.", () => {
  const read = (file: string) => JSON.parse(readFileSync(join(folder, `${file}.json`), "utf8"));
  const { client, ...description } = read("network");
  // The limits of a status between peers (p2p.md 7.2).
  const lengths = { name: 20, token: 8, symbol: 5, explorer: 128 };
  for (const [member, max] of Object.entries(lengths)) {
    const text = { ...client, name: description.name }[member];
    expect(text.length, member).toBeGreaterThan(0);
    expect(text.length, member).toBeLessThanOrEqual(max);
  }
  expect(URL.canParse(client.explorer)).toBe(true);
  // The reference refuses empty texts, numbers that are not positive, and members that it does not know.
  expect(description.messagePrefix).not.toBe("");
  for (const number of ["pubKeyHash", "wif", "slip44"])
    expect(description[number], number).toBeGreaterThan(0);
  expect(description.bip32).toEqual({ public: expect.any(Number), private: expect.any(Number) });
  expect(description).not.toHaveProperty("assumeValid");
  expect(Object.keys(present(presets.livenet).network)).toEqual(
    expect.arrayContaining(Object.keys(description)),
  );
  expect(read("exceptions")).toEqual({});
});

test("A name that peers of the reference would refuse is refused.", async () => {
  const { code, stderr } = await runMain(["network", "init", join(parent, "long"), "--name", "a".repeat(21)]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("20 at most") });
});

test("A folder that is not empty is unchanged.", async () => {
  const { code, stderr } = await runMain(["network", "init", folder]);
  expect(code).toBe(2);
  expect(stderr).toContain(
    `the network folder ${folder} is not empty; choose another with uniknode network init FOLDER`,
  );
});

test("Two nodes forge one chain, each with its delegates.", async () => {
  const port = await freePort();
  const start = async (index: 1 | 2) => {
    const node = spawnUniknode([
      ...["run", "--network-dir", folder, "--delegates", join(folder, `delegates-${index}.json`)],
      ...["--data", join(parent, `data-${index}`), "--http-port", "0", "--watch-rounds", "0"],
      ...["--rate-limit", "0"],
      ...["--p2p-host", `127.0.0.${index}`, "--p2p-port", `${port}`, "--p2p-loopback"],
      ...["--peers", `127.0.0.${3 - index}`],
    ]);
    running.push(node);
    const [url] = await node.printed(/http:\S+/);
    return async (path: string) => {
      const response = await fetch(`${url}/api${path}`);
      return (response.ok ? ((await response.json()) as { data: unknown }).data : undefined) as
        | { id: string; generator: { username: string } }
        | undefined;
    };
  };
  const [first, second] = [await start(1), await start(2)];
  // Each node has three of the six delegates: a fourth name is one of the other node.
  const forgers = new Set<string>();
  let height = 2;
  async function seeNext(): Promise<number> {
    const [mine, others] = [await first(`/blocks/${height}`), await second(`/blocks/${height}`)];
    if (mine !== undefined && mine.id === others?.id) {
      forgers.add(mine.generator.username);
      height++;
    }
    return forgers.size;
  }
  await expect.poll(seeNext, { interval: 200 }).toBeGreaterThan(3);
});
