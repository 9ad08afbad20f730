/** Shows the order as a command and as code. */
import { SameElsewhere } from "../../components/same-elsewhere.tsx";
import { type Chosen, commandOf, programOf } from "../../signing/elsewhere.ts";
import type { Order } from "../../signing/order.ts";

export type ElsewhereProps = {
  readonly order: Order;
  readonly chosen: Chosen;
  /** Typed text of the delegate. */
  readonly delegate: string;
};

export default function Elsewhere({ order, chosen, delegate }: ElsewhereProps) {
  return (
    <SameElsewhere
      what="this transaction"
      forms={[
        { id: "command", title: "Command line", text: commandOf(order, chosen, delegate, location.origin) },
        { id: "client", title: "JavaScript", text: programOf(order, chosen, location.origin) },
      ]}
    />
  );
}
