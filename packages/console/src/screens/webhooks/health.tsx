/** How the deliveries of a webhook go, in the place of a cell: share of successes, the last hours, what waits. */
import type { DeliverySummary, Webhook } from "@uniknode/client";
import { countText } from "../../components/format.ts";
import { Time } from "../../components/time.tsx";
import { useAnswer, useNode } from "../../data/node.ts";

const SELDOM = { lasts: "session", everyMs: 15_000 } as const;
/** Of a bar, in units of the image. */
const BAR = 4;
const HEIGHT = 20;

export function Health({ webhook: { id } }: { webhook: Pick<Webhook, "id"> }) {
  const { operations } = useNode();
  const { value } = useAnswer(`webhook ${id} summary`, () => operations.webhooks.summary(id), SELDOM);
  if (!value) return null;
  const { count, delivered, failed, pending, oldestWaitingAt, hours } = value.data;
  if (count === 0) return <span class="quiet">no delivery yet</span>;
  const ended = delivered + failed;
  return (
    <span class="health">
      <span>{ended === 0 ? "none ended" : share(delivered, ended)}</span>
      <Hours hours={hours} />
      {oldestWaitingAt !== undefined && (
        <span class="quiet">
          {countText(pending)} wait, since <Time timeMs={oldestWaitingAt} clock="machine" />
        </span>
      )}
    </span>
  );
}

const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

/** A failure among many is no 100 %. */
function share(delivered: number, ended: number): string {
  const text = percent.format(delivered / ended);
  return delivered < ended && text === percent.format(1) ? `> ${percent.format(0.999)}` : text;
}

function Hours({ hours }: Pick<DeliverySummary, "hours">) {
  const most = Math.max(1, ...hours.map(({ delivered, failed }) => delivered + failed));
  const total = hours.reduce((sum, { delivered, failed }) => sum + delivered + failed, 0);
  const failed = hours.reduce((sum, hour) => sum + hour.failed, 0);
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(1, (count / most) * HEIGHT));
  return (
    <svg
      class="hours"
      width={hours.length * BAR}
      height={HEIGHT}
      role="img"
      aria-label={`${countText(total)} deliveries ended in the last ${hours.length} hours, ${countText(failed)} of them failed`}
    >
      {hours.map(({ at, delivered, failed }, index) => {
        const [good, bad] = [heightOf(delivered), heightOf(failed)];
        return (
          <g key={at}>
            <rect x={index * BAR} y={HEIGHT - good} width={BAR - 1} height={good} />
            <rect class="bad" x={index * BAR} y={HEIGHT - good - bad} width={BAR - 1} height={bad} />
          </g>
        );
      })}
    </svg>
  );
}
