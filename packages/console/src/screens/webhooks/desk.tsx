/** The webhook desk: every webhook, one of them with its deliveries, or one delivery with its attempts. */
import { DeliveryPage } from "./delivery-page.tsx";
import { Register } from "./register.tsx";
import { WebhookPage } from "./webhook-page.tsx";

/** From the address of the page. */
export type DeskProps = { readonly webhook: string | undefined; readonly delivery: string | undefined };

export default function Desk({ webhook, delivery }: DeskProps) {
  if (webhook === undefined) return <Register />;
  return delivery === undefined ? (
    <WebhookPage id={webhook} />
  ) : (
    <DeliveryPage webhook={webhook} id={delivery} />
  );
}
