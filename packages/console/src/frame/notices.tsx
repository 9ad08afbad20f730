/** Notices on every page: node unreachable, catching up, chain reorganized, session ended. */
import { useComputed } from "@preact/signals";
import { ApiError } from "@uniknode/client";
import { useEffect } from "preact/hooks";
import { ErrorBoundary } from "preact-iso/lazy";
import { Icon } from "../components/icon.tsx";
import { loadable } from "../components/loadable.tsx";
// Imported here, because it is needed when nothing can be loaded.
import "../components/load-with-retry.tsx";
import type { Connection } from "../data/head.ts";
import { useNode } from "../data/node.ts";
import { pageResponseMs, watchNode } from "../data/pulse.ts";
import { shownVerdict } from "../data/verdict.ts";
import { CatchingUp } from "./catching-up.tsx";
import { Reorganized } from "./reorganized.tsx";
import { useVerdict } from "./use-verdict.ts";

// Loaded on demand. The other notices are small, and one is needed when nothing can be loaded.
const SignedOut = loadable(() => import("./signed-out.tsx"), "nothing");

export default function Notices() {
  const { connection, reorganization, session, poll, lose } = useNode();
  useEffect(() => {
    const ended = new AbortController();
    void watchNode(session.read, { poll, lose }, () => document.hidden, ended.signal, pageResponseMs());
    return () => ended.abort();
  }, [session, poll, lose]);
  const verdict = useVerdict();
  useEffect(() => {
    if (verdict) shownVerdict.value = verdict;
  }, [verdict?.text]);
  const { value } = connection;
  return (
    <ErrorBoundary>
      {value.state === "disconnected" && <Disconnected connection={value} />}
      {value.state === "connected" && value.progress && <CatchingUp progress={value.progress} />}
      {reorganization.value && <Reorganized change={reorganization.value} />}
      {session.state.value?.signedIn && <SignedOut />}
    </ErrorBoundary>
  );
}

function Disconnected({ connection }: { connection: Connection & { state: "disconnected" } }) {
  const { poll, nowMs, clockOffsetMs } = useNode();
  const secondsLeft = useComputed(() => {
    const remainingMs = connection.retryAtMs - (nowMs.value - clockOffsetMs.value);
    return remainingMs > 500 ? `in ${Math.round(remainingMs / 1_000)} s` : "now";
  });
  const { error } = connection;
  const isRefused = error instanceof ApiError && error.code === "API_RATE_LIMITED";
  return (
    <div class="bad">
      <Icon name="warning" />
      <span>
        {isRefused ? "Too many requests from this address." : "The node does not respond."} The page may be
        outdated.{" "}
        {isRefused ? (
          <>
            It tries again <span aria-hidden="true">{secondsLeft}</span>.
          </>
        ) : (
          "It reconnects automatically."
        )}
      </span>
      <button type="button" onClick={poll}>
        Try now
      </button>
    </div>
  );
}
