/** Theme: light, dark or system; stored in the browser. */
import { signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

/** Each theme with the one after it. */
const NEXT: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" };

const KEY = "uniknode-theme";

export const theme = signal<Theme>("system");

/** Applies the theme before the first paint. */
export function readTheme(): void {
  const stored = storage()?.getItem(KEY);
  setTheme(stored === "light" || stored === "dark" ? stored : "system");
}

export function setTheme(chosen: Theme): void {
  theme.value = chosen;
  const { dataset } = document.documentElement;
  if (chosen === "system") delete dataset.theme;
  else dataset.theme = chosen;
  storage()?.setItem(KEY, chosen);
}

export const themeAfter = (current: Theme): Theme => NEXT[current];

/** Stores the theme; browsers may forbid storage. */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}
