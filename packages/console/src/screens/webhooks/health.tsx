/** Health of a webhook: success rate, recent hours and queue. */
import type { DeliverySummary, Webhook } from "@uniknode/client";
import { clockText, countText } from "../../components/format.ts";
import { Time } from "../../components/time.tsx";
import { useNode, useResponse } from "../../data/node.ts";

const SELDOM = { lasts: "session", everyMs: 15_000 } as const;
/** Size of a bar, in units of the image. */
const BAR = 4;
const HEIGHT = 20;

export type HealthProps = {
  readonly webhook: Pick<Webhook, "id">;
  /** Fits into a cell below a title that names the hour. */
  readonly isShort?: boolean;
};

export function Health({ webhook: { id }, isShort = false }: HealthProps) {
  const { operations } = useNode();
  const { value } = useResponse(`webhook ${id} summary`, () => operations.webhooks.summary(id), SELDOM);
  // Takes its room from the beginning.
  if (!value) return <span class="health" />;
  const { count, queued, oldestWaitingAt, lastHour, hours } = value.data;
  if (count === 0) return <span class="health quiet">no deliveries yet</span>;
  return (
    <span class="health">
      <span>{isShort ? shareOf(lastHour) : rateOf(lastHour)}</span>
      <Hours hours={hours} />
      {queued > 0 && (
        <span class="quiet">
          {countText(queued)} waiting
          {!isShort && oldestWaitingAt !== undefined && (
            <>
              , oldest <Time timeMs={oldestWaitingAt} clock="machine" />
            </>
          )}
        </span>
      )}
    </span>
  );
}

const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

/** Success rate of the attempts of the last hour; a retried delivery counts once per attempt. */
export const rateOf = (lastHour: DeliverySummary["lastHour"]): string =>
  attemptsOf(lastHour) === 0
    ? "no attempts in the last hour"
    : `${shareOf(lastHour)} ${attemptsOf(lastHour) === 1 ? "attempt" : "attempts"} accepted in the last hour`;

const attemptsOf = ({ succeeded, failed }: DeliverySummary["lastHour"]): number => succeeded + failed;

function shareOf(lastHour: DeliverySummary["lastHour"]): string {
  const attempts = attemptsOf(lastHour);
  if (attempts === 0) return "no attempts";
  const text = percent.format(lastHour.succeeded / attempts);
  // Rounded down, so that a single failure is not shown as 100 %.
  const share = lastHour.failed > 0 && text === percent.format(1) ? `> ${percent.format(0.999)}` : text;
  return `${share} of ${countText(attempts)}`;
}

/** Text of one bar, as shown under the pointer. */
const hourText = ({ at, delivered, failed }: DeliverySummary["hours"][number]): string =>
  `from ${clockText(at)}: ${countText(delivered)} delivered, ${countText(failed)} failed`;

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
            <title>{hourText({ at, delivered, failed })}</title>
            {/* The pointer also finds hours without deliveries. */}
            <rect class="hit" x={index * BAR} y={0} width={BAR} height={HEIGHT} />
            <rect x={index * BAR} y={HEIGHT - good} width={BAR - 1} height={good} />
            <rect class="bad" x={index * BAR} y={HEIGHT - good - bad} width={BAR - 1} height={bad} />
          </g>
        );
      })}
    </svg>
  );
}
