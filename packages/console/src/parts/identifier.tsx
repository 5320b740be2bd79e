// IDs, shortened in the middle, with a link to the resource and a button that copies them.
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { TEXTS } from '../texts/texts.ts';
import { Hint } from './hint.tsx';
import { useName } from './names.tsx';
import { pathOf } from './paths.ts';

const HEAD = 4;
const TAIL = 6;
const SHOWN_MS = 1_500;

/** Shortens an ID in the middle, for example to `Transaction:0198…9f3a21`. */
export function shortId(id: string): string {
  const [kind, uniquePart] = id.includes(':') ? id.split(':', 2) : ['', id];
  if (!uniquePart || uniquePart.length <= HEAD + TAIL + 1) return id;
  return `${kind ? `${kind}:` : ''}${uniquePart.slice(0, HEAD)}…${uniquePart.slice(-TAIL)}`;
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => {
    void navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), SHOWN_MS);
    });
  };
  return (
    <button type="button" className="copy" aria-label={`${TEXTS.copy} ${label}`} onClick={copy}>
      {isCopied ? TEXTS.copied : TEXTS.copy}
    </button>
  );
}

/** Shows the name of a customer if it was requested, or the shortened ID. */
export function IdText({ id }: { id: string }) {
  const name = useName(id);
  if (name) return <span title={id}>{name}</span>;
  const shortText = shortId(id);
  const start = pathOf(id) ? shortText.indexOf(':') + 1 : 0;
  return (
    <span className="code" title={id}>
      {start > 0 && <span className="id-kind">{shortText.slice(0, start)}</span>}
      {shortText.slice(start)}
    </span>
  );
}

export function Identifier({ id, kind }: { id: string | null | undefined; kind?: string }) {
  if (!id) return <span className="none">{TEXTS.none}</span>;
  const link = pathOf(id, kind);
  const text = <IdText id={id} />;
  return (
    <span className="identifier">
      <Hint text={id}>{link ? <Link to={link}>{text}</Link> : text}</Hint>
      <CopyButton text={id} label={id} />
    </span>
  );
}
