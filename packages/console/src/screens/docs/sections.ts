/** The sections of the document in sight, and the address, whose anchor names one. */
import { useEffect } from "preact/hooks";

/** Ids of headings, apart from those of the frame. */
export const sectionId = (anchor: string): string => `section-${anchor}`;

/** Goes to the section of the address: now, when another one is chosen, and when the same is chosen again. */
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

/** The browser sees no change there. */
function onClick({ target }: MouseEvent): void {
  const href = (target as Element).closest("a")?.getAttribute("href");
  if (href?.startsWith("#") && href === location.hash) reveal();
}

/** The anchor of a title, and one that is not there, are the top of the page. */
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
