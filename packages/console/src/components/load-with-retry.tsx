/** Loads a part of the page when the node responds again, and shows the outage until then. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Page } from "./page.tsx";

export type Load<Props> = () => Promise<{ readonly default: ComponentType<Props> }>;

/** Placeholder until the file of a part can be loaded: a page of its own, a sentence, or nothing. */
export type Waiting = "screen" | "part" | "nothing";

const RETRY_MS = 1_000;
/** Storage key of the time of the last page reload. */
const RELOADED = "uniknode-reloaded";
const RELOAD_PAUSE_MS = 30_000;

export function loadWithRetry<Props extends object>(
  load: Load<Props>,
  waiting: Waiting,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;

  return function LoadWithRetry(props: Props) {
    const [Part, setPart] = useState(() => loaded);
    useEffect(() => {
      let isShown = true;
      const attempt = async () => {
        loaded ??= await loadAgain(load);
        if (!isShown) return;
        if (loaded) setPart(() => loaded);
        else setTimeout(attempt, RETRY_MS);
      };
      void attempt();
      return () => {
        isShown = false;
      };
    }, []);
    return Part ? <Part {...props} /> : <Outage waiting={waiting} />;
  };
}

/**
 * Reloads the page, because browsers may cache the failure to load a file, and an updated node has different file names.
 * The URL leads back to the same screen.
 */
async function loadAgain<Props>(load: Load<Props>): Promise<ComponentType<Props> | undefined> {
  const isBack = await fetch("/console/", { method: "HEAD" }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!isBack) return undefined;
  const part = await load().catch(() => undefined);
  if (part) return part.default;
  const reloadedMs = Number(sessionStorage.getItem(RELOADED));
  if (Date.now() - reloadedMs < RELOAD_PAUSE_MS) return undefined;
  sessionStorage.setItem(RELOADED, `${Date.now()}`);
  location.reload();
  return undefined;
}

const TITLE = "The node does not respond";

function Outage({ waiting }: { waiting: Waiting }) {
  if (waiting === "nothing") return null;
  if (waiting === "screen") {
    return (
      <Page title={TITLE}>
        <p>This screen is not loaded yet. It opens when the node responds again.</p>
      </Page>
    );
  }
  return (
    <div class="state">
      <p class="state-title">{TITLE}</p>
      <p>This part opens when the node responds again.</p>
    </div>
  );
}
