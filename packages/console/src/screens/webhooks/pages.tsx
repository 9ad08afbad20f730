/** Webhook pages: the list, a webhook with its deliveries, or a delivery with its attempts. */
import { DeliveryPage } from "./delivery-page.tsx";
import { Register } from "./register.tsx";
import { WebhookPage } from "./webhook-page.tsx";

/** Ids from the URL. */
export type PagesProps = { readonly webhook: string | undefined; readonly delivery: string | undefined };

export default function Pages({ webhook, delivery }: PagesProps) {
  if (webhook === undefined) return <Register />;
  return delivery === undefined ? (
    <WebhookPage id={webhook} />
  ) : (
    <DeliveryPage webhook={webhook} id={delivery} />
  );
}
