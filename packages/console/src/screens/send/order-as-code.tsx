/** Shows the order as a command and as code. */
import { EquivalentForms } from "../../components/equivalent-forms.tsx";
import type { Order } from "../../signing/order.ts";
import { type Chosen, commandOf, programOf } from "../../signing/order-as-code.ts";

export type OrderAsCodeProps = {
  readonly order: Order;
  readonly chosen: Chosen;
  /** Typed text of the delegate. */
  readonly delegate: string;
};

export default function OrderAsCode({ order, chosen, delegate }: OrderAsCodeProps) {
  return (
    <EquivalentForms
      what="this transaction"
      forms={[
        { id: "command", title: "Command line", text: commandOf(order, chosen, delegate, location.origin) },
        { id: "client", title: "JavaScript", text: programOf(order, chosen, location.origin) },
      ]}
    />
  );
}
