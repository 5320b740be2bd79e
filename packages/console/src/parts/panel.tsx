// The frame of a screen and of its sections.
import { type ReactNode, useEffect, useId } from 'react';
import { useShownPlatform } from '../shell/platform.tsx';
import { TEXTS } from '../texts/texts.ts';
import { ApprovalNotice } from './pending-approvals.tsx';
import { ModeMark } from './status.tsx';

interface ScreenProps {
  title: string;
  /** Content next to the title, such as a status. */
  mark?: ReactNode;
  /** The platform of the resource that the screen shows. */
  platformId?: string | null | undefined;
  /** ID of the resource, whose pending approvals are shown. */
  subject?: string;
  actions?: ReactNode;
  children: ReactNode;
}

export function Screen({ title, mark, platformId, subject, actions, children }: ScreenProps) {
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
      {subject && <ApprovalNotice subject={subject} />}
      {children}
    </>
  );
}

interface PanelProps {
  title: string;
  /** Anchor of the section, for links. */
  id?: string;
  actions?: ReactNode;
  children: ReactNode;
}

export function Panel({ title, id: anchor, actions, children }: PanelProps) {
  const id = useId();
  return (
    <section id={anchor} className="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}
