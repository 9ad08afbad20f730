/** What a reader must know of every page: the node does not answer, is behind, or has changed the chain. */
import { useComputed } from "@preact/signals";
import { ApiError } from "@uniknode/client";
import lazy, { ErrorBoundary } from "preact-iso/lazy";
import { Icon } from "../components/icon.tsx";
import { useNode } from "../data/node.ts";
import type { Connection } from "../head/feed.ts";

// Loaded when they are needed. The other notice is needed when nothing can be loaded.
const CatchingUp = lazy(() => import("./catching-up.tsx"));
const Reorganized = lazy(() => import("./reorganized.tsx"));

export function Notices() {
  const { connection, reorganization } = useNode();
  const { value } = connection;
  return (
    <div class="notices" role="status">
      {value.state === "disconnected" && <Disconnected connection={value} />}
      <ErrorBoundary>
        {value.state === "connected" && value.progress && <CatchingUp progress={value.progress} />}
        {reorganization.value && <Reorganized change={reorganization.value} />}
      </ErrorBoundary>
    </div>
  );
}

function Disconnected({ connection }: { connection: Connection & { state: "disconnected" } }) {
  const { poll, nowMs, clockOffsetMs } = useNode();
  const secondsLeft = useComputed(() => {
    const leftMs = connection.retryAtMs - (nowMs.value - clockOffsetMs.value);
    return leftMs > 500 ? `in ${Math.round(leftMs / 1_000)} s` : "now";
  });
  const { error } = connection;
  const isRefused = error instanceof ApiError && error.code === "API_RATE_LIMITED";
  return (
    <div class="bad">
      <Icon name="warning" />
      <span>
        {isRefused ? "This address has asked the node too often." : "The node does not answer."} What you see
        is from before; the page tries again <span aria-hidden="true">{secondsLeft}</span>.
      </span>
      <button type="button" onClick={poll}>
        Try now
      </button>
    </div>
  );
}
