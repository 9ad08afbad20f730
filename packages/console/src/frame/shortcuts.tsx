/** Keys that work on every page, and the list of them. */

import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { Dialog } from "../components/dialog.tsx";

/** After `g`. */
const DESTINATIONS: Readonly<Record<string, readonly [path: string, title: string]>> = {
  o: ["/console/", "Overview"],
  b: ["/console/blocks", "Blocks"],
  t: ["/console/transactions", "Transactions"],
  w: ["/console/wallets", "Wallets"],
  u: ["/console/uniks", "Uniks"],
  d: ["/console/delegates", "Delegates"],
  h: ["/console/webhooks", "Webhooks"],
  l: ["/console/live", "Live events"],
  n: ["/console/node", "Node"],
};

export function Shortcuts() {
  const { route } = useLocation();
  const [isOpen, setOpen] = useState(false);
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
      if (event.key === "?") setOpen(true);
      const [path] = (isAfterG && DESTINATIONS[event.key]) || [];
      if (path) route(path);
      isAfterG = event.key === "g";
    }
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [route]);

  return (
    <Dialog title="Keyboard" isOpen={isOpen} onClose={() => setOpen(false)}>
      <div class="shortcuts">
        <span>
          <kbd>/</kbd> or <kbd>Ctrl K</kbd>
        </span>
        <span>Search</span>
        {Object.entries(DESTINATIONS).map(([key, [path, title]]) => [
          <span key={path}>
            <kbd>g</kbd> <kbd>{key}</kbd>
          </span>,
          <span key={title}>{title}</span>,
        ])}
        <span>
          <kbd>?</kbd>
        </span>
        <span>This list</span>
      </div>
    </Dialog>
  );
}

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
