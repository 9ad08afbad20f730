/** The layout of pages is stable while the chain grows, and shows the right times. */
import { EVERY_EVENT } from "@uniknode/client";
import { present } from "@uniknode/protocol";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { signIn } from "../../test-support/browser.ts";
import { describeConsole } from "../../test-support/console-tests.ts";
import { createPayer, type Pay } from "../../test-support/payments.ts";

const MAX_SHIFT = 0.02;
const WATCHED_ROUNDS = 3;

describeConsole({}, ({ node, open }) => {
  let pay: Pay;

  beforeAll(async () => {
    pay = await createPayer(node);
    await pay();
    await node.client.dev.mine();
  });

  /** Opens the overview, with its shifts summed from the first paint on, and waits until it is complete. */
  async function openOverview(width: number): Promise<Page> {
    const { page } = await open({ width });
    await watchShifts(page);
    await page.goto("/console/");
    await page.locator("ol.round .slot").first().waitFor();
    await page.getByRole("table", { name: "Latest transactions" }).waitFor();
    return page;
  }

  test("The overview does not shift while rounds change and transactions arrive, wide and narrow.", async () => {
    const [wide, narrow] = await Promise.all([openOverview(1_400), openOverview(390)]);
    const titles = new Set<string>();
    while (titles.size < WATCHED_ROUNDS) {
      titles.add(await wide.getByRole("heading", { name: /^Round / }).innerText());
      await pay();
      await wide.waitForTimeout(2_000);
    }
    for (const page of [wide, narrow]) {
      const { total, largest } = await page.evaluate(() => (window as unknown as Watched).shifts);
      // The largest shifts name the moved elements.
      expect(total < MAX_SHIFT ? [] : [total, ...largest]).toEqual([]);
    }
  });

  test("The pages of webhooks, of the dev chain and of uniks do not shift while they load, wide and narrow.", async () => {
    const conditions = [EVERY_EVENT];
    const { webhooks, dev } = node.client;
    const target = "http://127.0.0.1:9/";
    const { data } = await webhooks.create({ event: "block.applied", target, conditions });
    await dev.mine({ blocks: 2 });
    const failed = async () => (await webhooks.deliveries(data.id).page()).data.find(({ reason }) => reason);
    await expect.poll(failed).toBeDefined();
    await dev.forge({ enabled: false });
    const [{ id: unik } = { id: "" }] = (await node.client.uniks.list().page({ limit: 1 })).data;
    /** Each page, with what is loaded last. */
    const pages = [
      ["/console/webhooks", "tbody .hours"],
      ["/console/webhooks/new", "input[type=radio]"],
      [`/console/webhooks/${data.id}`, ".facts .hours"],
      [`/console/webhooks/${data.id}/${present(await failed()).id}`, ".timeline li"],
      ["/console/dev", ".desk data"],
      ["/console/uniks", ".gallery a"],
      [`/console/uniks/${unik}`, ".timeline li"],
    ] as const;
    const shifted: unknown[] = [];
    for (const width of [1_400, 390]) {
      const { page } = await open({ width });
      await watchShifts(page);
      await signIn(page, node.token);
      for (const [path, last] of pages) {
        await page.goto(path);
        await page.locator(last).first().waitFor({ state: "attached" });
        const { total, largest } = await page.evaluate(() => (window as unknown as Watched).shifts);
        if (total >= MAX_SHIFT) shifted.push([path, width, total, ...largest]);
      }
    }
    expect(shifted).toEqual([]);
    await dev.forge({ enabled: true });
  });

  test("A new block appears beside the pool, never beneath it.", async () => {
    const { page } = await open();
    await page.emulateMedia({ reducedMotion: "no-preference" });
    await page.goto("/console/");
    await page.locator(".block-cards .block-card").nth(2).waitFor();
    await page.evaluate(() => {
      const seen = { ids: new Set<string>(), leastPx: Number.POSITIVE_INFINITY };
      Object.assign(window, { seen });
      const note = () => {
        const pool = document.querySelector(".pool")?.getBoundingClientRect().right ?? 0;
        for (const card of document.querySelectorAll<HTMLAnchorElement>(".block-cards .block-card")) {
          seen.ids.add(card.href);
          seen.leastPx = Math.min(seen.leastPx, card.getBoundingClientRect().left - pool);
        }
        requestAnimationFrame(note);
      };
      note();
    });
    type Seen = { readonly ids: ReadonlySet<string>; readonly leastPx: number };
    const seen = () =>
      page.evaluate(() => {
        const { ids, leastPx } = (window as unknown as { seen: Seen }).seen;
        return { count: ids.size, leastPx };
      });
    const { count } = await seen();
    await node.client.dev.mine();
    await expect.poll(async () => (await seen()).count).toBeGreaterThan(count);
    expect((await seen()).leastPx).toBeGreaterThan(0);
  });

  test("Right after a time travel no text shows a time of the earlier clock.", async () => {
    const { page } = await open();
    await page.goto("/console/");
    await page.locator(".verdict time").waitFor();
    await page.evaluate(() => {
      const seen = new Set<string>();
      Object.assign(window, { seen });
      const note = () => {
        const texts = [...document.querySelectorAll(".verdict, .block-card time")];
        for (const { textContent } of texts)
          if (/in \d|hr/.test(textContent ?? "")) seen.add(textContent ?? "");
        requestAnimationFrame(note);
      };
      note();
    });
    await node.client.dev.forge({ enabled: false });
    await node.client.dev.travel({ seconds: 7_200 });
    // The second block is shown after what belongs to the first one.
    for (let blocks = 0; blocks < 2; blocks++) {
      const { height } = (await node.client.dev.mine()).data.head;
      await page.locator(".pulse b").getByText(height.toLocaleString("en-US"), { exact: true }).waitFor();
    }
    const newest = page.locator(".block-cards .block-card").first();
    expect(await newest.innerText()).toMatch(/now|sec/);
    const ahead = await page.evaluate(() => [...(window as unknown as { seen: Set<string> }).seen]);
    expect(ahead.filter((text) => /in \d/.test(text))).toEqual([]);
    expect(await page.locator(".verdict").innerText()).not.toMatch(/stopped/);
  });
});

type Shift = { readonly value: number; readonly sources: readonly string[] };
type Watched = { shifts: { total: number; largest: Shift[] } };

/** Sums the layout shifts of all later pages, as the browser reports them. */
const watchShifts = (page: Page) =>
  page.addInitScript(() => {
    const shifts: Watched["shifts"] = { total: 0, largest: [] };
    Object.assign(window, { shifts });
    type Entry = PerformanceEntry & {
      value: number;
      sources: { node?: Node; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly }[];
    };
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries() as Entry[]) {
        shifts.total += value;
        const names = sources.map(({ node, previousRect, currentRect }) => {
          const element = node instanceof Element ? node : node?.parentElement;
          const place = ({ x, y, width, height }: DOMRectReadOnly) => [x, y, width, height].map(Math.round);
          return `${element?.className} ${element?.tagName} ${place(previousRect)} > ${place(currentRect)}`;
        });
        shifts.largest = [...shifts.largest, { value, sources: names }]
          .sort((a, b) => b.value - a.value)
          .slice(0, 5);
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
