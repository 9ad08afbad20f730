/** Commands of a dev chain, which cause on demand what happens occasionally on a real chain. */
import { useSignal } from "@preact/signals";
import type { DevAccounts, DevChange } from "@uniknode/client";
import { useEffect } from "preact/hooks";
import { Badge } from "../../components/badge.tsx";
import { refusalText } from "../../components/error-text.ts";
import { Page, Section } from "../../components/page.tsx";
import { Empty, Loading, ResponseView, SignInNeeded } from "../../components/states.tsx";
import { useNode, useResponse } from "../../data/node.ts";
import { Accounts } from "./accounts.tsx";
import { Commands } from "./commands.tsx";
import { Faucet } from "./faucet.tsx";
import { Forge, Mine, Snapshots, Travel } from "./forms.tsx";
import { Receivers } from "./receivers.tsx";
import { Reorganize } from "./reorganize.tsx";
import { type Outcome, type Commands as RunCommands, useCommands } from "./use-commands.ts";
import "./dev.css";

export default function DevChain() {
  const { value: session } = useNode().session.state;
  return (
    <Page title="Dev chain">
      {!session ? (
        <Loading />
      ) : !session.signedIn ? (
        <SignInNeeded title="Sign in to use the dev chain" />
      ) : session.devChain ? (
        <Desk />
      ) : (
        <Empty title="This is not a dev chain">
          These commands work only on a chain that npm start has created.
        </Empty>
      )}
    </Page>
  );
}

function Desk() {
  const { operations } = useNode();
  const isForging = useSignal<boolean | undefined>(undefined);
  const show = ({ forging }: DevChange) => {
    isForging.value = forging;
  };
  const commands = useCommands(show);
  const accounts = useResponse("dev accounts", operations.dev.accounts, { lasts: "session" });
  // A snapshot stores nothing, and returns whether the chain forges.
  useEffect(() => {
    operations.dev.snapshot().then(
      ({ data }) => show(data),
      // Updated when a form is used.
      () => {},
    );
  }, [operations]);
  return (
    <>
      <p class="desk-state">
        {isForging.value !== undefined && (
          <Badge tone={isForging.value ? "good" : "warning"}>
            {isForging.value ? "forges automatically" : "forging is paused"}
          </Badge>
        )}
        <OutcomeText outcome={commands.outcome} />
      </p>
      {commands.outcome && "error" in commands.outcome && (
        <p class="desk-failure" role="alert">
          The command failed: {refusalText(commands.outcome.error)}
        </p>
      )}
      <ResponseView response={accounts} what="The accounts">
        {({ data }) => <DeskParts accounts={data} commands={commands} isForging={isForging.value} />}
      </ResponseView>
    </>
  );
}

type DeskPartsProps = {
  readonly accounts: DevAccounts;
  readonly commands: RunCommands;
  readonly isForging: boolean | undefined;
};

function DeskParts({ accounts, commands, isForging }: DeskPartsProps) {
  return (
    <div class="desk">
      <Accounts {...accounts} />
      <Section title="Commands">
        <div class="card">
          <Faucet accounts={accounts.accounts} />
          <Mine commands={commands} />
          <Forge commands={commands} isForging={isForging} />
          <Travel commands={commands} />
          <Reorganize commands={commands} />
          <Snapshots commands={commands} />
          <Receivers commands={commands} />
        </div>
      </Section>
      <Commands />
    </div>
  );
}

const OutcomeText = ({ outcome }: { outcome: Outcome | undefined }) =>
  outcome && "text" in outcome ? <span>{outcome.text}</span> : null;
