/** Pages of a chain that reorganises. */
import { beforeAll, expect, test } from "vitest";
import { keepPicture } from "../../test-support/browser.ts";
import { describeConsole } from "../../test-support/console-tests.ts";
import { createPayer, type Pay } from "../../test-support/payments.ts";

describeConsole({}, ({ node, open, reuse }) => {
  let pay: Pay;

  beforeAll(async () => {
    await node.client.dev.forge({ enabled: false });
    pay = await createPayer(node);
  });

  test("Confirmations are updated live; when its block is reverted, the page of a transaction reports it and finds it again.", async () => {
    const id = await pay();
    const { page, faults } = await reuse();
    await page.goto(`/console/transactions/${id}`);
    await page.getByText("waits in the pool").waitFor();
    await node.client.dev.mine();
    await page.getByText("1 confirmation", { exact: true }).waitFor();
    await node.client.dev.mine({ blocks: 2 });
    await page.getByText("3 confirmations").waitFor();
    await node.client.dev.reorg({ depth: 3 });
    await page.getByText("its block was reverted; pending again").waitFor();
    await page.getByText(/reverted, from height/).waitFor();
    await keepPicture(page, "reorganization-light-1400");
    await node.client.dev.mine();
    await page.getByText("1 confirmation", { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test("The page of a reverted block reports it, and links to the replacing one.", async () => {
    const { data: block } = await node.client.blocks.last();
    const { page, faults } = await reuse();
    await page.goto(`/console/blocks/${block.id}`);
    await page.getByText(block.id).first().waitFor();
    await node.client.dev.reorg({ depth: 1 });
    await page.getByText("This block was reverted").waitFor();
    await page.getByRole("link", { name: "The current block of height" }).click();
    await page.getByRole("heading", { level: 1, name: `Block ${block.height}`, exact: true }).waitFor();
    await page.getByText("Reverted at its height").waitFor();
    // The browser's log has a line for each response with 404.
    expect(faults.filter((fault) => !fault.includes("404"))).toEqual([]);
  });

  test("The page of a future block shows it as soon as it is forged.", async () => {
    const { data: head } = await node.client.blocks.last();
    const { page } = await reuse();
    await page.goto(`/console/blocks/${head.height + 1}`);
    await page.getByText("This block is not forged yet").waitFor();
    await node.client.dev.mine();
    await page.getByText("the newest block", { exact: true }).waitFor();
  });

  test("The page of a block shows its events in order.", async () => {
    const { page, faults } = await open();
    await page.goto(node.consoleUrl);
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    const { data: block } = await node.client.blocks.last();
    await page.goto(`/console/blocks/${block.id}?view=events`);
    await page.getByText("events, in order").waitFor();
    await page.getByText("block.applied").click();
    await page.getByText(`"id": "${block.id}"`).waitFor();
    expect(faults).toEqual([]);
  });

  test("Markup in a vendor field is text.", async () => {
    const text = `<img src=x onerror="document.title='taken'"><script>1</script>`;
    const id = await pay(text);
    await node.client.dev.mine();
    const { page, faults } = await reuse();
    await page.goto(`/console/transactions/${id}`);
    await page.getByText(text).waitFor();
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(await page.title()).not.toBe("taken");
    expect(faults).toEqual([]);
  });
});
