/** Sending: each form from the input to the chain, and passphrases nowhere else. */
import {
  addressFromPublicKey,
  builders,
  bytesToHex,
  createNetwork,
  keysFromPassphrase,
  livenet,
  networkFilesFromJson,
  present,
  signTransaction,
  transactionToJson,
} from "@uniknode/protocol";
import type { Page } from "playwright-core";
import { afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { accessibilityFaults, keepPicture, signIn } from "../../test-support/browser.ts";
import { describeConsole } from "../../test-support/console-tests.ts";
import { faultsInEveryView } from "../../test-support/views.ts";

type Account = {
  readonly address: string;
  readonly passphrase: string;
  readonly publicKey: string;
  readonly unik?: { readonly id: string };
};
type Accounts = readonly [Account, Account, Account, Account, Account, ...Account[]];

describeConsole({}, ({ node, reuse }) => {
  let accounts: Accounts;
  let delegates: Accounts;
  let factory: Account & { readonly unik: { readonly id: string } };
  let page: Page;
  let faults: string[];
  /** Every request of the page. */
  let sent: string[] = [];

  beforeAll(async () => {
    ({ accounts, delegates, factory } = JSON.parse(await node.command(["accounts", "--json"])));
    ({ page, faults } = await reuse());
    page.context().on("request", (request) => {
      sent.push(`${request.url()} ${JSON.stringify(request.headers())} ${request.postData() ?? ""}`);
    });
  });
  beforeEach(async () => {
    ({ page, faults } = await reuse());
    sent = [];
  });
  afterEach(async () => {
    await expectNoSecret();
    expect(faults).toEqual([]);
  });

  const field = (label: string) => page.getByRole("main").getByLabel(label, { exact: true });
  const fill = async (values: Readonly<Record<string, string>>) => {
    for (const [label, value] of Object.entries(values)) await field(label).fill(value);
  };
  const open = (values: Readonly<Record<string, string>>) =>
    page.goto(`/console/send?${new URLSearchParams(values)}`);
  const press = (name: string) => page.getByRole("main").getByRole("button", { name, exact: true }).click();
  const shows = (text: string) => page.getByRole("main").getByText(text).first().waitFor();
  /** Summary of the transaction to be signed. */
  const sentence = (text: string) => page.locator(".sentence").getByText(text).waitFor();
  /** The transaction that the page has sent, as soon as it is in a block. */
  async function forged() {
    await page.getByRole("heading", { name: "Sent", exact: true }).waitFor();
    const link = page.locator(".outcome").getByRole("link").first();
    const id = present(await link.getAttribute("title"));
    await node.client.dev.mine();
    await page
      .locator(".outcome")
      .getByText(/confirmation/)
      .waitFor();
    return (await node.client.transactions.get(id)).data;
  }

  async function expectNoSecret(): Promise<void> {
    const kept = await page.evaluate(async () => [
      location.href,
      JSON.stringify(localStorage),
      JSON.stringify(sessionStorage),
      JSON.stringify(history.state),
      document.cookie,
      JSON.stringify(await indexedDB.databases()),
      document.documentElement.outerHTML,
    ]);
    for (const { passphrase } of [...accounts, ...delegates, factory]) {
      const forms = [passphrase, passphrase.replaceAll(" ", "+"), encodeURIComponent(passphrase)];
      for (const text of [...kept, ...sent]) for (const form of forms) expect(text).not.toContain(form);
    }
  }

  test("A transfer is entered, reviewed, signed and followed into a block without a mouse.", async () => {
    const [sender, recipient] = accounts;
    await open({});
    await field("From").waitFor();
    for (let i = 0; i < 60 && (await page.evaluate(() => document.activeElement?.id)) !== "field-to"; i++) {
      await page.keyboard.press("Tab");
    }
    await page.keyboard.type(recipient.address);
    await page.keyboard.press("Tab");
    await page.keyboard.type("12.5");
    await page.keyboard.press("Tab");
    await page.keyboard.type("lunch");
    // Fee and nonce, then the passphrase.
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.type(sender.passphrase);
    await page.keyboard.press("Enter");
    await sentence("sends");
    expect(await field("From").inputValue()).toBe(sender.address);
    await shows("9,987.3");
    await keepPicture(page, "send-transfer-light-1400");
    await page.keyboard.press("Enter");
    const transaction = await forged();
    expect(transaction).toMatchObject({
      sender: sender.address,
      recipient: recipient.address,
      amount: 1_250_000_000,
      vendorField: "lunch",
    });
    expect(await field("Passphrase").inputValue()).toBe("");
    expect(page.url()).toContain(`to=${recipient.address}`);
    await node.client.dev.mine();
    await page
      .locator(".outcome")
      .getByText(/\d confirmations/)
      .waitFor();
    await keepPicture(page, "send-sent-light-1400");
    await page.locator(".outcome").getByRole("link").first().click();
    await page.getByRole("heading", { level: 1, name: "Transaction" }).waitFor();
  });

  test("A passphrase entered before the signing code is loaded finds its wallet as soon as it is.", async () => {
    const [sender, recipient] = accounts;
    const { promise: loaded, resolve: load } = Promise.withResolvers<void>();
    const rules = "**/node/configuration/crypto";
    await page.route(rules, async (route) => {
      await loaded;
      await route.continue();
    });
    await open({ to: recipient.address, amount: "1" });
    await fill({ Passphrase: sender.passphrase });
    await field("Passphrase").press("Enter");
    await page.getByRole("button", { name: "Signing…" }).waitFor();
    load();
    await sentence("sends");
    expect(await field("From").inputValue()).toBe(sender.address);
    await page.unroute(rules);
  });

  test("Only the signing script becomes a worker.", async () => {
    const [sender, recipient] = accounts;
    await open({ from: sender.address, to: recipient.address, amount: "1" });
    await sentence("sends");
    const refusal = await page.evaluate(() => {
      try {
        return `${new Worker("/console/assets/another.js")}`;
      } catch (error) {
        return String(error);
      }
    });
    expect(refusal).toContain("TrustedScriptURL");
    expect(faults.splice(0)).toEqual([expect.stringContaining("TrustedScriptURL")]);
    expect(page.workers().map((worker) => new URL(worker.url()).pathname)).toEqual([
      expect.stringMatching(/^\/console\/assets\/worker-/),
    ]);
  });

  test("A transaction that is only signed has the bytes of the protocol package.", async () => {
    const [, sender, recipient] = accounts;
    await open({
      from: sender.address,
      to: recipient.address,
      amount: "0.00000001",
      fee: "0.2",
      nonce: "77",
    });
    await sentence("sends");
    await field("Passphrase").fill(sender.passphrase);
    await press("Sign only");
    await page.getByText("Signed, not sent").waitFor();
    await page.getByText("Signed JSON", { exact: true }).last().click();
    const shown = JSON.parse(await page.getByRole("region", { name: "signed transaction" }).innerText());
    const network = createNetwork(networkFilesFromJson((await node.client.node.cryptoConfiguration()).data));
    const keys = keysFromPassphrase(sender.passphrase);
    const body = builders.transfer({
      network,
      senderPublicKey: bytesToHex(keys.publicKey),
      nonce: 77n,
      fee: 20_000_000n,
      recipientId: recipient.address,
      amount: 1n,
    });
    expect(shown).toEqual(transactionToJson(signTransaction(body, keys)));
  });

  test("Amounts, recipients and passphrases are refused with a reason, before and by the node.", async () => {
    const [sender, recipient, other] = accounts;
    await open({ from: sender.address, to: recipient.address });
    await shows("It has");
    for (const [amount, reason] of [
      ["1,000", "without separators"],
      ["0", "must be more than 0"],
      ["1.123456789", "8 decimals"],
      ["twelve", "This is not an amount"],
      ["12345", "With the fee, the wallet lacks"],
    ] as const) {
      await fill({ "Amount in DEVUNIK": amount });
      await shows(reason);
    }
    await fill({ "Amount in DEVUNIK": "1", To: `${recipient.address.slice(0, -1)}1` });
    await shows("it has a typo");
    const foreign = addressFromPublicKey(sender.publicKey, livenet.network.pubKeyHash);
    await fill({ To: foreign });
    await shows("an address of another network");
    await keepPicture(page, "send-refused-light-1400");
    expect(await accessibilityFaults(page)).toEqual([]);

    await fill({ To: recipient.address });
    await sentence("sends");
    await press("Sign and send");
    await shows("Enter the passphrase.");
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("field-passphrase");
    await fill({ Passphrase: other.passphrase });
    await press("Sign and send");
    await shows(`This is the passphrase of ${other.address}, not of the sender.`);
    // It can be corrected where it was typed.
    expect(await field("Passphrase").inputValue()).toBe(other.passphrase);
    await fill({ Passphrase: `${sender.passphrase} ` });
    await press("Sign and send");
    await shows("The passphrase begins or ends with a blank");
    await fill({ Passphrase: sender.passphrase.replace(/\w+$/, "mistyped") });
    await press("Sign and send");
    await shows("Word 12 of the passphrase is not in the list of words.");

    await page.getByText("Fee and nonce").click();
    await fill({ Fee: "0.00000001", Passphrase: sender.passphrase });
    await shows("0.00000001");
    await press("Sign and send");
    await page.locator("#field-fee-notes").getByText("The fee is too low").waitFor();
    await page.locator("#field-fee-notes").getByText("It must be at least 0.00").waitFor();
    await page.getByRole("heading", { name: "The node refused it" }).waitFor();
  });

  test("A mistyped passphrase does not open another wallet.", async () => {
    const [sender, recipient] = accounts;
    await open({ to: recipient.address, amount: "1" });
    await fill({ Passphrase: sender.passphrase.replace(/^\w+/, "mistyped") });
    await press("Find the wallet");
    await shows("Word 1 of the passphrase is not in the list of words.");
    await keepPicture(page, "send-mistyped-light-1400");
    expect(await field("From").inputValue()).toBe("");
    await fill({ Passphrase: sender.passphrase });
    await press("Find the wallet");
    await sentence("sends");
  });

  test("A fee far above the usual one is confirmed; a cleared field keeps its section open and the focus.", async () => {
    const [sender, recipient] = accounts;
    await open({ from: sender.address, to: recipient.address, amount: "1" });
    await sentence("sends");
    await page.getByText("Fee and nonce").click();
    await fill({ Fee: "5000", Passphrase: sender.passphrase });
    const confirmation = page.getByRole("checkbox", { name: "Pay a fee of 5,000 DEVUNIK" });
    await confirmation.waitFor();
    await press("Sign only");
    await shows("Not signed: confirm the fee.");
    expect(await faultsInEveryView(page, "send-high-fee")).toEqual([]);
    expect(await field("Passphrase").inputValue()).toBe(sender.passphrase);
    await confirmation.check();
    await press("Sign only");
    await page.getByText("Signed, not sent").waitFor();

    await field("Fee").click();
    for (let digit = 0; digit < 4; digit++) await page.keyboard.press("Backspace");
    await confirmation.waitFor({ state: "detached" });
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("field-fee");
    await field("Fee").blur();
    expect(await field("Fee").isVisible()).toBe(true);
  });

  test("A transaction without a response is announced as possibly received, and is sent again as it is.", async () => {
    const [sender, recipient] = accounts;
    await open({ from: sender.address, to: recipient.address, amount: "1" });
    await sentence("sends");
    await page.route("**/transactions", (route) => route.abort());
    await field("Passphrase").fill(sender.passphrase);
    await press("Sign and send");
    await page.getByRole("status").getByText("The node may have it", { exact: true }).waitFor();
    expect(await page.getByText("not sent").count()).toBe(0);
    await page.unroute("**/transactions");
    faults.length = 0;
    await press("Send it again");
    await forged();
  });

  test("Back returns to the former kind of transaction, with what was entered.", async () => {
    await open({ kind: "transfer" });
    await fill({ "Amount in DEVUNIK": "1.5" });
    await page.getByRole("tab", { name: "Vote" }).click();
    await field("Delegate").waitFor();
    await page.goBack();
    await expect.poll(() => field("Amount in DEVUNIK").inputValue()).toBe("1.5");
  });

  test("On a narrow page, the selected kind of transaction is in view.", async () => {
    await page.setViewportSize({ width: 390, height: 900 });
    onTestFinished(() => page.setViewportSize({ width: 1_400, height: 900 }));
    for (const [kind, title] of [
      ["transfer-unik", "Transfer a unik"],
      ["signed", "Signed JSON"],
      ["transfer", "Transfer"],
    ] as const) {
      await open({ kind });
      const tab = page.getByRole("tab", { name: title, exact: true, selected: true });
      await tab.waitFor();
      const { left, right } = await tab.evaluate((tab) => tab.getBoundingClientRect().toJSON());
      expect([left >= 0, right <= 390]).toEqual([true, true]);
    }
  });

  test("A vote is cast, shown, not repeated, and withdrawn.", async () => {
    // Both have a unik of the same type, which the chain requires.
    const [sender, delegate] = [accounts[0], delegates[1]];
    const { unik } = delegate as unknown as { unik: { id: string } };
    await node.command(["tx", "disclose", unik.id, "Zoë's forge", "--factory", factory.unik.id], {
      UNIKNODE_PASSPHRASE: delegate.passphrase,
      UNIKNODE_FACTORY_PASSPHRASE: factory.passphrase,
    });
    await node.client.dev.mine();
    await open({ kind: "vote", from: sender.address, delegate: "zoë's forge" });
    await shows("has not voted");
    await sentence("votes for");
    await field("Passphrase").fill(sender.passphrase);
    await press("Sign and send");
    expect((await forged()).asset).toEqual({ votes: [`+${delegate.publicKey}`] });
    await shows("already voted");
    await field("What to do").selectOption("withdraw");
    await field("Passphrase").fill(sender.passphrase);
    await sentence("withdraws its vote");
    await keepPicture(page, "send-vote-light-1400");
    expect(await accessibilityFaults(page)).toEqual([]);
    await press("Sign and send");
    await page.getByText("has not voted").waitFor();
    await node.client.dev.mine();
    expect((await node.client.wallets.get(sender.address)).data.vote).toBeUndefined();
  });

  test("A unik is minted with a property, its properties are set and removed, and it is transferred.", async () => {
    const sender = accounts[3];
    await open({ kind: "mint", from: sender.address });
    await press("Any id");
    await fill({ Properties: "Greeting = hello\nColour = green" });
    await sentence("mints the unik");
    await keepPicture(page, "send-mint-light-1400");
    const unik = await field("Id of the new unik").inputValue();
    await field("Passphrase").fill(sender.passphrase);
    await press("Sign and send");
    await forged();
    await page.getByRole("tab", { name: "Properties" }).click();
    await fill({ Set: "Greeting = good day", Remove: "Colour" });
    await sentence("changes properties");
    await field("Passphrase").fill(sender.passphrase);
    expect(await faultsInEveryView(page, "send-properties")).toEqual([]);
    await press("Sign and send");
    await forged();
    expect((await node.client.uniks.property(unik, "Greeting")).data).toBe("good day");
    const names = (await node.client.uniks.properties(unik).page()).data.flatMap(Object.keys);
    expect(names).toContain("type");
    expect(names).not.toContain("Colour");
    await page.goto(`/console/uniks/${unik}`);
    await page.getByRole("main").getByRole("link", { name: "Transfer", exact: true }).click();
    await fill({ To: accounts[4].address });
    await sentence("transfers the unik");
    await field("Passphrase").fill(sender.passphrase);
    expect(await faultsInEveryView(page, "send-unik")).toEqual([]);
    await press("Sign and send");
    await forged();
    expect((await node.client.uniks.get(unik)).data.ownerId).toBe(accounts[4].address);
    await page.goto(`/console/uniks/${unik}`);
    await page.locator(".timeline > li").filter({ hasText: "Unik transfer" }).getByText("From").waitFor();
  });

  test("The names of a unik are disclosed, certified by the factory.", async () => {
    const [, sender] = accounts;
    const { id } = present(sender.unik);
    await page.goto(`/console/uniks/${id}`);
    await page.getByRole("main").getByRole("link", { name: "Disclose", exact: true }).click();
    await fill({ Names: "anna\nanna.example", "Unik of the factory": factory.unik.id });
    await sentence("as names of the unik");
    await fill({ Passphrase: sender.passphrase });
    await press("Sign and send");
    await shows("Enter the passphrase of the factory");
    await fill({ "Passphrase of the factory": "another factory" });
    await press("Sign and send");
    await shows("certification signature");
    await fill({ Passphrase: sender.passphrase, "Passphrase of the factory": factory.passphrase });
    expect(await faultsInEveryView(page, "send-disclose")).toEqual([]);
    await press("Sign and send");
    await forged();
    expect((await node.client.uniks.get(id)).data.explicitValues).toEqual(["anna", "anna.example"]);
  });

  test("Signed JSON is read from a text or a file and sent, and the node's response is shown.", async () => {
    const [, sender, recipient] = accounts;
    const command = ["tx", "transfer", recipient.address, "3", "--dry-run", "--json"];
    const printed = await node.command(command, { UNIKNODE_PASSPHRASE: sender.passphrase });
    await open({ kind: "signed" });
    await field("Signed transactions").fill(printed.slice(0, 40));
    await shows("This is not JSON");
    const file = { name: "signed.json", mimeType: "application/json", buffer: Buffer.from(printed) };
    await page.getByLabel("Read a file").setInputFiles(file);
    await shows("not sent yet");
    expect(await accessibilityFaults(page)).toEqual([]);
    await press("Send");
    await page.getByText("accepted", { exact: true }).waitFor();
    await node.client.dev.mine();
    // What a block contains is not shown as refused.
    await page.getByLabel("Read a file").setInputFiles(file);
    await shows("not sent yet");
    await press("Send");
    await page.getByText("accepted", { exact: true }).waitFor();
    await keepPicture(page, "send-signed-light-1400");
  });

  test("The faucet of a dev chain pays from one of its accounts, whose passphrases are on the desk.", async () => {
    const [, payer, recipient] = accounts;
    // A block of the chain itself would end the wait in the pool before the page is looked at.
    await node.client.dev.forge({ enabled: false });
    onTestFinished(async () => void (await node.client.dev.forge({ enabled: true })));
    await signIn(page, node.token);
    await page.goto("/console/dev");
    await shows(recipient.passphrase);
    await fill({ To: "D1", "Amount in DEVUNIK": "1.5" });
    await field("From").selectOption(payer.address);
    await press("Pay");
    await shows("it has a typo");
    await field("To").fill(recipient.address);
    await press("Pay");
    await shows("waits in the pool");
    await node.client.dev.mine();
    await page.getByText(/1 confirmation/).waitFor();
    await keepPicture(page, "dev-faucet-light-1400");
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole("status").getByRole("link").first().click();
    await page.getByRole("heading", { level: 1, name: "Transaction" }).waitFor();
    await sentence("sends");
    const { data } = await node.client.wallets.sent(payer.address).page({ limit: 1 });
    expect(data[0]).toMatchObject({ recipient: recipient.address, amount: "150000000" });
  });

  test("A wallet with a second passphrase requires it, and accepts no other.", async () => {
    const sender = accounts[4];
    const second = "another secret of the same wallet";
    await node.command(["tx", "second-signature"], {
      UNIKNODE_PASSPHRASE: sender.passphrase,
      UNIKNODE_SECOND_PASSPHRASE: second,
    });
    await node.client.dev.mine();
    await open({ from: sender.address, to: accounts[0].address, amount: "1" });
    await sentence("sends");
    await fill({ Passphrase: sender.passphrase, "Second passphrase": "wrong" });
    await press("Sign and send");
    await shows("Wrong second passphrase for this wallet");
    await fill({ Passphrase: sender.passphrase, "Second passphrase": second });
    await press("Sign and send");
    expect(await forged()).toMatchObject({ signSignature: expect.any(String) });
  });
});
