// The frame of a screen and of its sections.
import { type ReactNode, useEffect, useId } from 'react';
import { useShownPlatform } from '../shell/platform.tsx';
import { TEXTS } from '../texts/texts.ts';
import { ModeMark } from './status.tsx';

interface ScreenProps {
  title: string;
  /** Next to the title, such as a state. */
  mark?: ReactNode;
  /** The platform of the resource that the screen shows. */
  platformId?: string | null | undefined;
  actions?: ReactNode;
  children: ReactNode;
}

export function Screen({ title, mark, platformId, actions, children }: ScreenProps) {
  const platform = useShownPlatform(platformId ?? undefined);
  useEffect(() => {
    document.title = `${title} – ${TEXTS.product}`;
  }, [title]);
  return (
    <>
      <header className="screen-head">
        <h1>{title}</h1>
        {mark}
        {platform && <ModeMark mode={platform.mode} />}
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
