/** Seals: pages verify proofs themselves, and refuse those of a node that lies. */
import { createCheckpoint, parseCheckpoint } from "@uniknode/client/proofs";
import { present } from "@uniknode/protocol";
import { beforeAll, expect, test } from "vitest";
import { accessibilityFaults, keepPicture } from "../../test-support/browser.ts";
import { describeConsole } from "../../test-support/console-tests.ts";
import { firstOf } from "../../test-support/first.ts";
import { createPayer, type Pay } from "../../test-support/payments.ts";
import { readQrCode } from "../../test-support/qr-code.ts";
import { faultsInEveryView } from "../../test-support/views.ts";

describeConsole({}, ({ node, open }) => {
  let pay: Pay;

  beforeAll(async () => {
    await node.client.dev.forge({ enabled: false });
    pay = await createPayer(node);
    // On a busy machine, a node needs too long for all in one request.
    for (let requests = 0; requests < 5; requests++) await node.client.dev.mine({ blocks: 6 });
  });

  test("The seal of a transaction appears when enough delegates have signed above its block.", async () => {
    const id = await pay();
    await node.client.dev.mine();
    const { page, faults } = await open();
    await page.goto(`/console/transactions/${id}`);
    await page.getByText("Not final yet").waitFor();
    await page.getByText(/^1 of 4 necessary delegates have signed at or above the block\./).waitFor();
    await node.client.dev.mine({ blocks: 6 });
    await page.getByText("Proof verified").waitFor();
    await page
      .getByText(/^The transaction is final: the page verified the signatures of 4 delegates/)
      .waitFor();
    await keepPicture(page, "seal-transaction-light-1400");
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("A block has a seal, and the first ones have none.", async () => {
    const { page, faults } = await open();
    await page.goto("/console/blocks/20");
    await page.getByText("Proof verified").waitFor();
    await keepPicture(page, "seal-block-light-1400");
    await page.goto("/console/blocks/2");
    await page.getByText("the newest block").or(page.getByText("newer block")).first().waitFor();
    expect(await page.getByText("Proof", { exact: true }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("The page of the node shows a checkpoint, and its QR code has the same text.", async () => {
    const { page, faults } = await open();
    await page.goto("/console/node");
    await page.getByRole("button", { name: "Create a checkpoint" }).click();
    const text = await page.getByRole("region", { name: "checkpoint" }).textContent();
    const code = page.getByRole("img", { name: "The checkpoint as a QR code" });
    await code.waitFor();
    expect(parseCheckpoint(present(text))).toEqual(await createCheckpoint(node.client));
    const size = Number((await code.getAttribute("viewBox"))?.split(" ").at(-1));
    const path = present(await code.locator("path").getAttribute("d"));
    expect(readQrCode({ size, path })).toBe(text);
    await keepPicture(page, "checkpoint-light-1400");
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("A false proof is refused with its reason.", async () => {
    const { page } = await open();
    await page.route(/\/blocks\/.*\/proof/, async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      const [first, ...others] = body.data.headers as string[];
      body.data.headers = [first?.replace(/.$/, (last) => (last === "0" ? "1" : "0")), ...others];
      await route.fulfill({ response, json: body });
    });
    await page.goto("/console/blocks/21");
    await page
      .getByRole("alert")
      .getByText(/^Proof refused\. .* \(.+\): do not rely on it, and compare with another node\.$/)
      .waitFor();
    await keepPicture(page, "seal-refused-light-1400");
    expect(await page.getByText("Proof verified").count()).toBe(0);
  });

  test("A refused proof of a unik is the first thing below its name.", async () => {
    const { page } = await open();
    await page.route(/\/transactions\/.*\/proof/, async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      const [first, ...others] = body.data.headers as string[];
      body.data.headers = [first?.replace(/.$/, (last) => (last === "0" ? "1" : "0")), ...others];
      await route.fulfill({ response, json: body });
    });
    await page.goto(`/console/uniks/${(await firstOf(node.client.uniks.list())).id}`);
    const alert = page.getByRole("alert").filter({ hasText: "Proof refused" });
    await alert.waitFor();
    expect(await page.locator(".portrait > :first-child").getByRole("alert").count()).toBe(1);
    expect(await faultsInEveryView(page, "seal-unik-refused")).toEqual([]);
  });
});
