// A document of a customer. It is shown as a picture or in a frame of its own, and never runs.
import { useEffect, useState } from 'react';
import { Reveal } from '../../action/reveal.tsx';
import { PEOPLE_TEXTS as T } from '../../texts/people.ts';

const TYPES: Readonly<Record<string, string>> = {
  PDF: 'application/pdf',
  JPEG: 'image/jpeg',
  PNG: 'image/png',
};

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

function File({ content, format, title }: { content: string; format: string; title: string }) {
  const [url, setUrl] = useState<string>();
  const type = TYPES[format];
  useEffect(() => {
    if (!type) return;
    const next = URL.createObjectURL(new Blob([bytesOf(content)], { type }));
    setUrl(next);
    return () => URL.revokeObjectURL(next);
  }, [content, type]);
  if (!url || !type) return null;
  return type === 'application/pdf' ? (
    <iframe className="document" src={url} title={title} referrerPolicy="no-referrer" />
  ) : (
    <img className="document" src={url} alt={title} />
  );
}

export function DocumentView({ id, title }: { id: string; title: string }) {
  return (
    <Reveal id="getDocumentContent" input={{ path: { documentId: id } }} label={T.show}>
      {({ content, format }) => <File content={content} format={format} title={title} />}
    </Reveal>
  );
}
