/** True if lists fit next to the text; same breakpoint as the style sheet. */
import { useEffect, useState } from "preact/hooks";

export function useIsWide(): boolean {
  const [query] = useState(() => matchMedia("(width >= 75rem)"));
  const [isWide, setWide] = useState(query.matches);
  useEffect(() => {
    const onChange = () => setWide(query.matches);
    query.addEventListener("change", onChange);
    return () => query.removeEventListener("change", onChange);
  }, [query]);
  return isWide;
}
