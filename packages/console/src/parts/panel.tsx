// The frame of a screen and of its sections.
import { type ReactNode, useEffect, useId } from 'react';
import { TEXTS } from '../texts/texts.ts';

interface ScreenProps {
  title: string;
  /** Next to the title, such as a state. */
  mark?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

export function Screen({ title, mark, actions, children }: ScreenProps) {
  useEffect(() => {
    document.title = `${title} – ${TEXTS.product}`;
  }, [title]);
  return (
    <>
      <header className="screen-head">
        <h1>{title}</h1>
        {mark}
        <div className="actions">{actions}</div>
      </header>
      {children}
    </>
  );
}

interface PanelProps {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}

export function Panel({ title, actions, children }: PanelProps) {
  const id = useId();
  return (
    <section className="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}
