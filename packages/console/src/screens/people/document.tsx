// A document of a customer, rendered as images so that scripts in the file are never executed.
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { Reveal } from '../../action/reveal.tsx';
import { Skeleton } from '../../parts/feedback.tsx';
import { PEOPLE_TEXTS as T } from '../../texts/people.ts';

const Pdf = lazy(() => import('./pdf.tsx').then((each) => ({ default: each.Pdf })));

const PICTURE_TYPES: Readonly<Record<string, string>> = { JPEG: 'image/jpeg', PNG: 'image/png' };

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

interface FileProps {
  content: string;
  format: string;
  title: string;
}

function Picture({ content, format, title }: FileProps) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const type = PICTURE_TYPES[format] ?? '';
    const nextUrl = URL.createObjectURL(new Blob([bytesOf(content)], { type }));
    setUrl(nextUrl);
    return () => URL.revokeObjectURL(nextUrl);
  }, [content, format]);
  return url ? <img className="document" src={url} alt={title} /> : null;
}

function File(props: FileProps) {
  const { content, format, title } = props;
  const bytes = useMemo(() => bytesOf(content), [content]);
  if (PICTURE_TYPES[format]) return <Picture {...props} />;
  if (format !== 'PDF') return null;
  return (
    <Suspense fallback={<Skeleton lines={4} />}>
      <Pdf bytes={bytes} title={title} />
    </Suspense>
  );
}

export function DocumentView({ id, title }: { id: string; title: string }) {
  return (
    <Reveal id="getDocumentContent" input={{ path: { documentId: id } }} label={T.show}>
      {({ content, format }) => <File content={content} format={format} title={title} />}
    </Reveal>
  );
}
