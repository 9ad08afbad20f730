/** Keyboard shortcuts, and their list. */

import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { Keys, PAGES } from "./keys.tsx";

export default function Shortcuts() {
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
      const page = isAfterG && PAGES.find(([key]) => key === event.key);
      if (page) route(`/console/${page[1]}`);
      isAfterG = event.key === "g";
    }
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [route]);

  return <Keys isOpen={isOpen} onClose={() => setOpen(false)} />;
}

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
