/** Layout of every screen: title, optional controls and content. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso/router";

export type PageProps = {
  /** Also the title of the document. */
  readonly title: string;
  /** Kind of object, shown above the title. */
  readonly kind?: string;
  /** Badges and buttons next to the title. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
};

/** True until a page was shown; the first page keeps the focus at the top of the document. */
let isFirst = true;

export function Page({ title, kind, aside, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { path } = useLocation();
  useEffect(() => {
    document.title = `${title} · Uniknode`;
  }, [title]);
  // Moves the focus to the new page, for keyboard users.
  useEffect(() => {
    if (!isFirst) heading.current?.focus({ preventScroll: true });
    isFirst = false;
  }, [path]);
  return (
    <>
      <header class="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {kind && <span class="kind">{kind} </span>}
          {title}
        </h1>
        {aside && <div class="page-aside">{aside}</div>}
      </header>
      {children}
    </>
  );
}

/** Section of a page with a heading. */
export type SectionProps = {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
};

export const Section = ({ title, aside, children }: SectionProps) => (
  <section class="section">
    <header>
      <h2>{title}</h2>
      {aside}
    </header>
    {children}
  </section>
);

/** List of names and values, without empty values. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
