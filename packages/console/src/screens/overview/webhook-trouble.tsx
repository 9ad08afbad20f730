/** Warning about failing webhook receivers; renders nothing if there are none. */
import { Badge } from "../../components/badge.tsx";
import { countOfText } from "../../components/format.ts";
import { troubledOf, useWebhookHealth } from "../../data/webhook-health.ts";

export function WebhookTrouble() {
  const health = useWebhookHealth();
  if (!health || troubledOf(health) === 0) return null;
  const { failing, suspended, queued } = health;
  return (
    <p class="sentence" role="status">
      <Badge tone="bad">webhooks</Badge>{" "}
      <a href="/console/webhooks">
        {[
          failing > 0 && `${countOfText(failing, "webhooks")} failing`,
          suspended > 0 && `${countOfText(suspended, "webhooks")} suspended`,
        ]
          .filter(Boolean)
          .join(", ")}
      </a>
      {queued > 0 && `: ${countOfText(queued, "deliveries")} waiting`}
    </p>
  );
}
