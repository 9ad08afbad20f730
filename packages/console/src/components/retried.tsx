/** Loads a part of the page once the node answers again, and shows the outage until then. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Page } from "./page.tsx";

export type Load<Props> = () => Promise<{ readonly default: ComponentType<Props> }>;

/** Placeholder until the file of a part can be loaded: a page of its own, a sentence, or nothing. */
export type Waiting = "screen" | "part" | "nothing";

const RETRY_MS = 1_000;
/** When the page was last loaded again; kept over it. */
const RELOADED = "uniknode-reloaded";
const RELOAD_PAUSE_MS = 30_000;

export function retried<Props extends object>(load: Load<Props>, waiting: Waiting): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;

  return function Retried(props: Props) {
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
 * Browsers may remember that a file could not be loaded, and an updated node has files of other names: then the page is
 * loaded again, whose address leads back here.
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

const TITLE = "The node does not answer";

function Outage({ waiting }: { waiting: Waiting }) {
  if (waiting === "nothing") return null;
  if (waiting === "screen") {
    return (
      <Page title={TITLE}>
        <p>This screen is not loaded yet. It opens as soon as the node is back.</p>
      </Page>
    );
  }
  return (
    <div class="state">
      <p class="state-title">{TITLE}</p>
      <p>This part opens as soon as the node is back.</p>
    </div>
  );
}
