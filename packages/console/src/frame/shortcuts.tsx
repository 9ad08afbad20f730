/** Keys that work on every page, and the list of them. */

import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import type { Keys as KeysDialog } from "./keys.tsx";

/** Pages by the key after `g`; keys.tsx has their titles. */
const PAGES: Readonly<Record<string, string>> = {
  o: "/console/",
  b: "/console/blocks",
  t: "/console/transactions",
  w: "/console/wallets",
  u: "/console/uniks",
  d: "/console/delegates",
  h: "/console/webhooks",
  l: "/console/live",
  n: "/console/node",
};

export function Shortcuts() {
  const { route } = useLocation();
  const [isOpen, setOpen] = useState(false);
  const [Keys, setKeys] = useState<typeof KeysDialog>();

  async function show(): Promise<void> {
    const loaded = await import("./keys.tsx").catch(() => undefined);
    // The node does not answer, which a notice says.
    if (!loaded) return;
    setKeys(() => loaded.Keys);
    setOpen(true);
  }

  useEffect(() => {
    let isAfterG = false;
    function onKeyDown(event: KeyboardEvent): void {
      const isSearch = event.key === "/" || ((event.ctrlKey || event.metaKey) && event.key === "k");
      if (isSearch && (event.key === "k" || !isTyping(event))) {
        event.preventDefault();
        document.getElementById("search")?.focus();
        return;
      }
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "?") void show();
      const path = isAfterG ? PAGES[event.key] : undefined;
      if (path) route(path);
      isAfterG = event.key === "g";
    }
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [route]);

  return Keys ? <Keys isOpen={isOpen} onClose={() => setOpen(false)} /> : null;
}

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
