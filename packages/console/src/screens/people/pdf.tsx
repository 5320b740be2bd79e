// Renders the pages of a PDF file as images. The built-in viewer of a browser would execute scripts in the
// file. This renderer has no script engine.
import { GlobalWorkerOptions, getDocument } from 'pdfjs-dist';
import workerUrl from 'pdfjs-dist/build/pdf.worker.min.mjs?url';
import { useEffect, useRef, useState } from 'react';
import { PEOPLE_TEXTS as T } from '../../texts/people.ts';

GlobalWorkerOptions.workerSrc = workerUrl;

const MAX_PAGES = 30;
/** Maximum width of a rendered page in pixels, to limit memory. */
const MAX_WIDTH = 1_600;

/** Renders at most `MAX_PAGES` pages one below the other. */
async function renderPages(
  bytes: Uint8Array,
  target: HTMLElement,
  signal: AbortSignal,
): Promise<void> {
  // The library takes ownership of the buffer, so it receives a copy.
  const task = getDocument({ data: bytes.slice(), useWasm: false, stopAtErrors: false });
  signal.addEventListener('abort', () => void task.destroy());
  const file = await task.promise;
  for (let number = 1; number <= Math.min(file.numPages, MAX_PAGES); number++) {
    const page = await file.getPage(number);
    const { width } = page.getViewport({ scale: 1 });
    const shownWidth = Math.min(target.clientWidth * devicePixelRatio, MAX_WIDTH);
    const viewport = page.getViewport({ scale: shownWidth / width });
    const canvas = document.createElement('canvas');
    canvas.width = viewport.width;
    canvas.height = viewport.height;
    if (signal.aborted) return;
    target.append(canvas);
    await page.render({ canvas, viewport }).promise;
  }
}

export function Pdf({ bytes, title }: { bytes: Uint8Array; title: string }) {
  const container = useRef<HTMLDivElement>(null);
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    const target = container.current;
    if (!target) return;
    const controller = new AbortController();
    target.replaceChildren();
    renderPages(bytes, target, controller.signal).catch(() => {
      if (!controller.signal.aborted) setBroken(true);
    });
    return () => controller.abort();
  }, [bytes]);
  if (isBroken) return <p className="document soft">{T.unreadable}</p>;
  return <div ref={container} className="document pages" role="img" aria-label={title} />;
}
