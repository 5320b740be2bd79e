// A region of a page with separate scrolling. The region can have the focus, so that the keyboard scrolls it.
import type { ReactNode } from 'react';
import { TEXTS } from '../texts/texts.ts';

export const Scroll = ({ label, children }: { label: string; children: ReactNode }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be focusable
  <section className="scroll" tabIndex={0} aria-label={TEXTS.table(label)}>
    {children}
  </section>
);
