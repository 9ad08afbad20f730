/** Chromium of the system, and pages of it that record all of their errors. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { type Browser, chromium, type Page } from "playwright-core";
import { missingProgram, skips } from "../../node/test-support/process/available.ts";
import { WAIT_MS } from "../../node/test-support/process/until.ts";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const PROBE = [...ARGUMENTS, "--headless", "--dump-dom", "about:blank"];
/** Undefined before the first search. */
let found: { readonly path: string | undefined } | undefined;

/** Returns the path of a browser that starts here; if there is none, prints why tests are skipped. */
export function findBrowser(): string | undefined {
  found ??= searchBrowser();
  return found.path;
}

function searchBrowser() {
  const reasons = PLACES.map((path) => missingProgram(path, PROBE));
  const path = PLACES[reasons.indexOf(undefined)];
  if (path === undefined) skips(reasons.join("; "));
  return { path };
}

/** @param more arguments of the command line */
export const startBrowser = (executablePath: string, more: readonly string[] = []): Promise<Browser> =>
  chromium.launch({ executablePath, args: [...ARGUMENTS, ...more] });

/** The browser that the tests of this process share. It ends with the process. */
let shared: Promise<Browser> | undefined;

/** Returns the browser of this process. A file closes its pages with `closePages`. */
export async function shareBrowser(executablePath: string): Promise<Browser> {
  const running = await shared?.catch(() => undefined);
  if (running?.isConnected()) return running;
  shared = startBrowser(executablePath);
  return shared;
}

/** Closes all pages, with their cookies and storage. */
export async function closePages(browser: Browser | undefined): Promise<void> {
  for (const context of browser?.contexts() ?? []) await context.close();
}

export type Watched = {
  readonly page: Page;
  /** Errors and warnings of the browser's log, including policy violations, and requests to other origins. */
  readonly faults: string[];
};

export type PageOptions = {
  readonly theme?: "light" | "dark";
  /** Width in pixels. */
  readonly width?: number;
  /** A phone or tablet, without a pointer that hovers. */
  readonly isTouch?: boolean;
};

/** @param url base URL of the console's node; requests to any other origin are errors */
export async function openPage(
  browser: Browser,
  url: string,
  { theme, width, isTouch = false }: PageOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: width ?? 1_400, height: 900 },
    colorScheme: theme ?? "light",
    reducedMotion: "reduce",
    locale: "en-US",
    hasTouch: isTouch,
    isMobile: isTouch,
  });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(`${error.stack ?? error}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(`${url}/`)) faults.push(`request of ${request.url()}`);
  });
  return { page, faults };
}

/** Signs in with the webhook token, and waits for the overview. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.goto("/console/sign-in");
  await page.getByLabel("Webhook token").fill(token);
  await page.getByRole("main").getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
}

/** Findings of axe: the rule, and the elements that violate it. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // The page has no frames, so that no other page has to be gathered.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });
  const { violations } = await axe.analyze();
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(", ")}`,
  );
}

/** Stores a picture in the folder of CONSOLE_PICTURES, if there is one. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env.CONSOLE_PICTURES;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
