/** One sentence about the state of the node, and its newest block. */
import { DelegateName } from "../../components/delegate-name.tsx";
import { Time } from "../../components/time.tsx";
import { useNode } from "../../data/node.ts";
import { shownVerdict } from "../../data/verdict.ts";

export function Verdict() {
  const block = useNode().head.value;
  const { state, text } = shownVerdict.value;
  if (!block) return null;
  const { username, address } = block.generator;
  return (
    <p class={`verdict ${state}`}>
      <span>{text}.</span>{" "}
      <span>
        Newest block: by {username ? <DelegateName id={username} /> : address},{" "}
        <Time timeMs={block.timestamp.unix * 1_000} />
      </span>
    </p>
  );
}
