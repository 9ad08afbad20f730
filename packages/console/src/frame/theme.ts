/** Theme: light, dark or system; stored in the browser. */
import { signal } from "@preact/signals";

const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "uniknode-theme";

export const theme = signal<Theme>("system");

/** Applies the theme before the first paint. */
export function readTheme(): void {
  setTheme(THEMES.find((known) => known === storage()?.getItem(KEY)) ?? "system");
}

export function setTheme(chosen: Theme): void {
  theme.value = chosen;
  const { dataset } = document.documentElement;
  if (chosen === "system") delete dataset.theme;
  else dataset.theme = chosen;
  storage()?.setItem(KEY, chosen);
}

export const themeAfter = (current: Theme): Theme => THEMES[(THEMES.indexOf(current) + 1) % THEMES.length]!;

/** Stores the theme; browsers may forbid storage. */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}
