/** Synchronises the visible section with the anchor of the URL. */
import { useEffect } from "preact/hooks";

/** Prefix of heading ids, distinct from ids of the frame. */
export const sectionId = (anchor: string): string => `section-${anchor}`;

/** Scrolls to the section of the URL: on load, on navigation, and when the same link is clicked again. */
export function useSection(): void {
  useEffect(() => {
    reveal();
    addEventListener("hashchange", reveal);
    addEventListener("click", onClick);
    return () => {
      removeEventListener("hashchange", reveal);
      removeEventListener("click", onClick);
    };
  }, []);
}

/** Scrolls again, because the browser detects no change of the URL. */
function onClick({ target }: MouseEvent): void {
  const href = (target as Element).closest("a")?.getAttribute("href");
  if (href?.startsWith("#") && href === location.hash) reveal();
}

/** Scrolls to an anchor; the title and unknown anchors mean the top of the page. */
function reveal(): void {
  if (location.hash === "") return;
  const heading = document.getElementById(sectionId(anchorOf(location.hash)));
  heading?.focus({ preventScroll: true });
  if (heading) heading.scrollIntoView();
  else scrollTo(0, 0);
}

function anchorOf(hash: string): string {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return "";
  }
}
