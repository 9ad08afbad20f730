/** Checks a page in both themes, narrow and wide: accessible, without overflow, and stored as pictures. */
import type { Page } from "playwright-core";
import { accessibilityFaults, keepPicture } from "./browser.ts";

export const WIDE = 1_400;
const NARROW = 390;
const HEIGHT = 900;
const VIEWS = [
  ["light", WIDE],
  ["light", NARROW],
  ["dark", NARROW],
  ["dark", WIDE],
] as const;

/** Errors of the current page, each with the view; the page is wide and light afterwards. */
export async function faultsInEveryView(page: Page, name: string): Promise<string[]> {
  const faults: string[] = [];
  for (const [theme, width] of VIEWS) {
    const view = `${theme}, ${width} pixels`;
    await page.setViewportSize({ width, height: HEIGHT });
    await page.emulateMedia({ colorScheme: theme });
    await drawn(page);
    await keepPicture(page, `${name}-${theme}-${width}`);
    const hidden = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (hidden !== 0) faults.push(`${view}: ${hidden} pixels are beyond the right edge`);
    faults.push(...(await truncatedOptions(page)).map((text) => `${view}: the option "${text}" is cut off`));
    faults.push(...(await truncatedCells(page)).map((text) => `${view}: the cell "${text}" is cut off`));
    // Each theme and each width once: colours do not depend on the width, nor anything else on the theme.
    if ((theme === "light") !== (width === WIDE)) continue;
    faults.push(...(await accessibilityFaults(page)).map((fault) => `${view}: ${fault}`));
  }
  await page.setViewportSize({ width: WIDE, height: HEIGHT });
  await page.emulateMedia({ colorScheme: "light" });
  return faults;
}

/** Waits until the page is drawn in its current state: an earlier picture would have the old colours. */
const drawn = (page: Page) =>
  page.evaluate(
    () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  );

/** Texts of the options that are wider than their visible select. */
const truncatedOptions = (page: Page) =>
  page.evaluate(() => {
    /** Width of the arrow that a select draws within its padding box. */
    const ARROW_PX = 20;
    const context = document.createElement("canvas").getContext("2d");
    if (!context) throw new Error("no canvas");
    return [...document.querySelectorAll("select")]
      .filter((select) => select.checkVisibility())
      .flatMap((select) => {
        const { font, paddingLeft, paddingRight } = getComputedStyle(select);
        context.font = font;
        const roomPx =
          select.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight) - ARROW_PX;
        return [...select.options]
          .map(({ text }) => text)
          .filter((text) => context.measureText(text).width > roomPx);
      });
  });

/** Texts of the cells that are wider than their room, except in tables that keep their layout. */
const truncatedCells = (page: Page) =>
  page.evaluate(() => {
    // The button that copies an identifier is behind the text, and may lie beyond the cell.
    const contentsOf = (cell: Element) => [...cell.querySelectorAll(".id > a, .id > span")];
    const isBeyond = (cell: Element) =>
      contentsOf(cell).some(
        (content) => content.getBoundingClientRect().right > cell.getBoundingClientRect().right + 1,
      );
    const isTooWide = (cell: Element) =>
      contentsOf(cell).length === 0 && cell.scrollWidth > cell.clientWidth + 1;
    return [...document.querySelectorAll(".table:not(.steady) td")]
      .filter((cell) => cell.checkVisibility() && (isBeyond(cell) || isTooWide(cell)))
      .map((cell) => cell.textContent);
  });
