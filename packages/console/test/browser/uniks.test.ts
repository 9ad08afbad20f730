/** The page of a unik, its link, and the gallery of new uniks. */
import { present } from "@uniknode/protocol";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { describeConsole } from "../../test-support/console-tests.ts";
import { readQrCode } from "../../test-support/qr-code.ts";
import { faultsInEveryView } from "../../test-support/views.ts";

const UNIK = "5a".repeat(32);
/** The longest name that is shown somewhere, and a text without a place to break. */
const NAME = "Anna of the long road ".repeat(5).trim().slice(0, 100);
const LONG = "w".repeat(200);

type Account = { readonly address: string; readonly passphrase: string };

describeConsole({}, ({ node, reuse }) => {
  beforeAll(async () => {
    const { accounts, factory } = JSON.parse(await node.command(["accounts", "--json"])) as {
      readonly accounts: readonly Account[];
      readonly factory: Account & { readonly unik: { readonly id: string } };
    };
    const { passphrase } = present(accounts[3]);
    const send = async (...args: string[]) => {
      await node.command(["tx", ...args], {
        UNIKNODE_PASSPHRASE: passphrase,
        UNIKNODE_FACTORY_PASSPHRASE: factory.passphrase,
      });
      await node.client.dev.mine();
    };
    await send("mint", UNIK, "individual", "--property", "usr/colour=blue", "--property", `usr/long=${LONG}`);
    await send("update", UNIK, "--property", "usr/colour=green", "--property", "LifeCycle/Status=3");
    await send("disclose", UNIK, NAME, "--factory", factory.unik.id);
  });

  const fact = (page: Page, name: string) =>
    page
      .locator(".facts > div")
      .filter({ has: page.getByText(name, { exact: true }) })
      .locator("dd");

  test("The page of a unik has its name, badges, own properties, its history with values before and after, and a seal.", async () => {
    const { page, faults } = await reuse();
    await page.goto(`/console/uniks/${UNIK}`);
    await page.getByRole("heading", { level: 1, name: `Unik ${NAME}` }).waitFor();
    await page.getByText("A unik of the type individual").waitFor();
    await fact(page, "Badges").getByText("XP level 1").waitFor();
    await fact(page, "Badges")
      .getByText(/^Not earned: .*Second passphrase/)
      .waitFor();
    await fact(page, "Authentications").getByText("Cosmic nonce 1").waitFor();
    await fact(page, "Life cycle").getByText("live").waitFor();
    const rows = page.getByRole("table", { name: "Properties of the unik" }).locator("tbody tr");
    await expect
      .poll(() => rows.locator("td:first-child").allInnerTexts())
      .toEqual(["usr/colour", "usr/long"]);
    const update = page.locator(".timeline > li").filter({ hasText: "Unik update" });
    await update.locator("del", { hasText: "blue" }).waitFor();
    await update.locator("ins", { hasText: "green" }).waitFor();
    await page.locator(".timeline > li").filter({ hasText: "Unik mint" }).getByText("usr/colour").waitFor();
    await page.getByText("Proof verified").or(page.getByText("Not final yet")).waitFor();
    expect(await faultsInEveryView(page, "unik-whole")).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("The link of a unik is shown as a text and as a QR code.", async () => {
    const { page, faults } = await reuse();
    await page.goto(`/console/uniks/${UNIK}`);
    await page.getByText("Share", { exact: true }).click();
    const link = `${node.url}/console/uniks/${UNIK}`;
    await page.getByRole("region", { name: "link" }).getByText(link).waitFor();
    await page.getByText("It opens only on this machine.").waitFor();
    const code = page.getByRole("img", { name: "The link as a QR code" });
    const size = Number((await code.getAttribute("viewBox"))?.split(" ").at(-1));
    const path = present(await code.locator("path").getAttribute("d"));
    expect(readQrCode({ size, path })).toBe(link);
    expect(await faultsInEveryView(page, "unik-share")).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("The uniks that were minted last are in a gallery, the newest first, unless the list is filtered.", async () => {
    const { page, faults } = await reuse();
    await page.goto("/console/uniks");
    const cards = page.getByRole("region", { name: "Minted last" }).getByRole("link");
    await cards.filter({ hasText: NAME }).waitFor();
    expect(await cards.first().getAttribute("title")).toBe(NAME);
    const name = page.getByRole("table", { name: "Uniks" }).getByRole("link", { name: NAME });
    expect([await name.textContent(), await name.getAttribute("title")]).toEqual([NAME, NAME]);
    expect(await faultsInEveryView(page, "uniks-gallery")).toEqual([]);
    await cards.first().click();
    await page.getByRole("heading", { level: 1, name: `Unik ${NAME}` }).waitFor();
    await page.goto(`/console/uniks?id=${UNIK}`);
    await page.getByText("1 unik", { exact: true }).waitFor();
    expect(await cards.count()).toBe(0);
    expect(faults).toEqual([]);
  });
});
