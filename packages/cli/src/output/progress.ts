// Shows that a call is in progress if it takes longer than a second, on a terminal only.
import process from 'node:process';

const DELAY_MS = 1_000;
const INTERVAL_MS = 100;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const CLEAR_LINE = '\r\u001b[K';

export async function withProgress<T>(text: string | (() => string), work: Promise<T>): Promise<T> {
  if (!process.stderr.isTTY) return work;
  let frame = 0;
  let isShown = false;
  const show = () => {
    isShown = true;
    const shownText = typeof text === 'string' ? text : text();
    process.stderr.write(`${CLEAR_LINE}${FRAMES[frame++ % FRAMES.length]} ${shownText}`);
  };
  let interval: NodeJS.Timeout | undefined;
  const timer = setTimeout(() => {
    show();
    interval = setInterval(show, INTERVAL_MS);
  }, DELAY_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
    clearInterval(interval);
    if (isShown) process.stderr.write(CLEAR_LINE);
  }
}
