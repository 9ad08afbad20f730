/** Pages whose node stops, comes back, or no longer knows their session. */
import { present } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { keepPicture } from "../../test-support/browser.ts";
import { describeConsole } from "../../test-support/console-tests.ts";

describeConsole({}, ({ node, open, openSignedIn }) => {
  const headOf = async () => (await node.client.node.status()).data.now;

  test("A screen that is opened while the node is down shows the outage, and opens when the node is back.", async () => {
    const { page } = await open();
    await page.goto("/console/");
    await page.locator("ol.round .slot").first().waitFor();
    await node.kill();
    await page.getByRole("link", { name: "Wallets", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "The node does not respond" }).waitFor();
    await keepPicture(page, "outage-light-1400");
    // Other screens are not loaded yet, unlike this one.
    await page.getByRole("link", { name: "Uniks", exact: true }).click();
    await page.getByRole("main").getByText("opens when the node responds").waitFor();
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await page.getByRole("link", { name: "Wallets", exact: true }).click();
    await page.getByRole("main").getByText("opens when the node responds").waitFor();
    await node.start();
    await page.getByRole("heading", { level: 1, name: "Wallets" }).waitFor();
    await page.getByRole("row").nth(3).waitFor();
    await page.getByRole("link", { name: "Uniks", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Uniks" }).waitFor();
  });

  test("A lost connection is shown at once, and no slot counts as missed meanwhile.", async () => {
    const { page } = await openSignedIn();
    await page.locator("ol.round .slot").first().waitFor();
    const summary = page.getByText(/forged, \d+ missed/);
    await summary.waitFor();
    await node.kill();
    await page.getByRole("status").getByText("The node does not respond").waitFor();
    await page.locator(".pulse.disconnected").waitFor();
    // Not earlier: on a busy machine, the node itself may just have missed a slot.
    const before = await summary.innerText();
    // Several slots of the dev chain.
    await page.waitForTimeout(8_000);
    const missedOf = (text: string) => present(/(\d+) missed/.exec(text))[1];
    expect(missedOf(await summary.innerText())).toBe(missedOf(before));
    await keepPicture(page, "disconnected-overview-light-1400");
    await node.start();
    await page.getByRole("status").getByText("The node does not respond").waitFor({ state: "detached" });
    await page.locator(".pulse.connected").waitFor();
  });

  test("A node that accepts connections but sends nothing counts as lost, too.", async () => {
    const { page } = await open();
    await page.goto("/console/");
    await page.locator("ol.round .slot").first().waitFor();
    await page.locator(".pulse.connected").waitFor();
    node.pause(true);
    await page.getByRole("status").getByText("The node does not respond").waitFor();
    node.pause(false);
    await page.getByRole("status").getByText("The node does not respond").waitFor({ state: "detached" });
  });

  test("A lost session is shown at once; a refused action is repeated after the sign-in.", async () => {
    await node.client.dev.forge({ enabled: false });
    const { page } = await openSignedIn();
    await page.getByRole("link", { name: "Dev chain", exact: true }).click();
    await page.getByText("forging is paused").waitFor();
    await page.getByLabel("Blocks", { exact: true }).fill("3");
    await page.context().clearCookies();
    await page.getByRole("status").getByText("Signed out").waitFor();
    await keepPicture(page, "signed-out-light-1400");
    const before = await headOf();
    await page.getByRole("button", { name: "Mine", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Signed out" });
    await dialog.waitFor();
    await keepPicture(page, "signed-out-dialog-light-1400");
    expect(await headOf()).toBe(before);
    await dialog.getByLabel("Webhook token").fill("wrong");
    await dialog.getByRole("button", { name: "Sign in and repeat" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("Webhook token").fill(node.token);
    await dialog.getByRole("button", { name: "Sign in and repeat" }).click();
    await page.locator(".desk-state").getByText("3 blocks applied").waitFor();
    expect(await headOf()).toBe(before + 3);
    await expect.poll(() => page.getByText("Signed out").count()).toBe(0);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
  });

  test("The notice of a lost session contains the sign-in; a dropped action is not executed.", async () => {
    await node.client.dev.forge({ enabled: false });
    const { page } = await openSignedIn();
    await page.getByRole("link", { name: "Dev chain", exact: true }).click();
    await page.getByText("forging is paused").waitFor();
    await page.context().clearCookies();
    const before = await headOf();
    await page.getByRole("button", { name: "Mine", exact: true }).click();
    await page.getByRole("dialog", { name: "Signed out" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("alert").getByText("not signed in").waitFor();
    await page.getByRole("status").getByRole("button", { name: "Sign in" }).click();
    const dialog = page.getByRole("dialog", { name: "Signed out" });
    await dialog.getByLabel("Webhook token").fill(node.token);
    await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
    await dialog.waitFor({ state: "hidden" });
    await page.getByRole("heading", { level: 1, name: "Dev chain" }).waitFor();
    expect(await headOf()).toBe(before);
  });
});
