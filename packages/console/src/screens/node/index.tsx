/** State of the node: checks, sync progress, parts, last hours, peers and options. */
import { Badge } from "../../components/badge.tsx";
import { bytesText, countText, durationText } from "../../components/format.ts";
import { loadable } from "../../components/loadable.tsx";
import { Facts, Page, Section } from "../../components/page.tsx";
import { ResponseView, SignInNeeded } from "../../components/states.tsx";
import { useNode, useResponse } from "../../data/node.ts";
import { LastHours } from "./last-hours.tsx";
import { MissedSlots } from "./missed-slots.tsx";
import { createOperations, type Summary } from "./operations.ts";
import { Options } from "./options.tsx";
import { Parts } from "./parts.tsx";
import { PeerMap } from "./peer-map.tsx";
import { Peers } from "./peers.tsx";
import { Progress } from "./progress.tsx";
import { RemoteProcesses } from "./remote-processes.tsx";
import "./node.css";

const Checkpoint = loadable(() => import("./checkpoint.tsx"), "part");

const EVERY_FEW_SECONDS = { lasts: "session", everyMs: 5_000 } as const;
/** Slow interval, because each read resets the time span of the thread delays that monitoring sees. */
const SELDOM = { lasts: "session", everyMs: 15_000 } as const;

export default function NodeScreen() {
  const { session, withKey } = useNode();
  const operations = createOperations(withKey);
  const { value: state } = session.state;
  const isSignedIn = state?.signedIn === true;
  const summary = useResponse(isSignedIn ? "node summary" : undefined, operations.summary, EVERY_FEW_SECONDS);
  const figures = useResponse(isSignedIn ? "node figures" : undefined, operations.figures, SELDOM);
  return (
    <Page title="Node" aside={summary.value && <Readiness summary={summary.value} />}>
      <Progress />
      {isSignedIn ? (
        <>
          <ResponseView response={summary} what="The state of the node">
            {(summary) => <Health summary={summary} />}
          </ResponseView>
          <ResponseView response={figures} what="The figures of the node" lines={8}>
            {(figures) => <Parts figures={figures} />}
          </ResponseView>
          <RemoteProcesses />
          <MissedSlots />
          <LastHours />
        </>
      ) : (
        state && <SignInNeeded title="Sign in to see checks and metrics" />
      )}
      <PeerMap />
      <Peers />
      <Checkpoint />
      {isSignedIn && <Options />}
    </Page>
  );
}

/** Shows whether all checks pass, as `/health/ready` returns. */
function Readiness({ summary }: { summary: Summary }) {
  const isReady = Object.values(summary.checks).every(({ ok }) => ok);
  return <Badge tone={isReady ? "good" : "bad"}>{isReady ? "ready" : "not ready"}</Badge>;
}

const CHECKS: Readonly<Record<string, string>> = {
  consensus: "Consensus thread",
  disk: "Disk",
  chain: "Chain",
  matcher: "Event matching",
  dispatcher: "Webhook delivery",
  database: "Database",
  node: "Node",
};

function Health({ summary: { checks, version, protocol, uptimeSeconds, webhooks, streams } }: Props) {
  return (
    <>
      <ul class="checks" aria-label="Checks">
        {Object.entries(checks)
          .sort(([, a], [, b]) => Number(a.ok) - Number(b.ok))
          .map(([name, { ok, detail }]) => (
            <li key={name} class="card">
              <span class="check-name">{CHECKS[name] ?? name}</span>
              <Badge tone={ok ? "good" : "bad"}>{ok ? "passes" : "fails"}</Badge>
              <span class="quiet">{detail}</span>
            </li>
          ))}
      </ul>
      <Section title="Process">
        <Facts
          facts={[
            ["Version", version],
            ["Compatible with", protocol],
            ["Uptime", durationText(uptimeSeconds)],
            ...(webhooks ? factsOfWebhooks(webhooks) : []),
            [
              "Live streams",
              streams && `${countText(streams.open)} open, ${bytesText(streams.unreadBytes)} unread`,
            ],
          ]}
        />
      </Section>
    </>
  );
}

const factsOfWebhooks = ({ queues, ...webhooks }: NonNullable<Summary["webhooks"]>) =>
  [
    [
      "Webhooks",
      `${countText(webhooks.active)} active, ${countText(webhooks.disabled)} paused, ${countText(webhooks.suspended)} suspended`,
    ],
    [
      "Deliveries",
      `${countText(queues.waiting)} waiting, ${countText(queues.retrying)} retrying, ${countText(queues.replaying)} from replays`,
    ],
  ] as const;

type Props = { readonly summary: Summary };
