// The script of a page with card details. A button copies a value, and the details are removed after a
// time limit or when the page is closed. The page allows only this script, by its hash. Without the
// script, the values can be selected.

const panel = document.querySelector<HTMLElement>('[data-hide-after]');
const timer = document.querySelector<HTMLElement>('.timer');
const expiryNotice = document.querySelector<HTMLElement>('[data-expired]');
const status = document.querySelector<HTMLElement>('[role="status"]');

const announce = (message: string) => {
  if (status) status.textContent = message;
};

/** Copies through the selection, because the asynchronous clipboard is not available inside a frame. */
function copy(value: Element): boolean {
  const text = (value.textContent ?? '').replaceAll(' ', '');
  const write = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
  };
  getSelection()?.selectAllChildren(value);
  document.addEventListener('copy', write);
  const isCopied = document.execCommand('copy');
  document.removeEventListener('copy', write);
  return isCopied;
}

const COPIED_MS = 2_000;

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener('click', () => {
    const value = button.parentElement?.querySelector('.code');
    if (!value) return;
    const isCopied = copy(value);
    announce(isCopied ? `${button.dataset.copy} copied` : 'Select the text and copy it.');
    if (!isCopied) return;
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = label;
    }, COPIED_MS);
  });
}

function hide(): void {
  panel?.remove();
  if (timer) timer.hidden = true;
  if (expiryNotice) expiryNotice.hidden = false;
}

if (panel && timer) {
  const endMs = performance.now() + Number(panel.dataset.hideAfter) * 1_000;
  const tick = () => {
    const remainingS = Math.max(0, Math.ceil((endMs - performance.now()) / 1_000));
    const remainingTime = `${Math.floor(remainingS / 60)}:${String(remainingS % 60).padStart(2, '0')}`;
    timer.textContent = `Hidden in ${remainingTime}`;
    if (remainingS > 0) return;
    clearInterval(intervalTimer);
    hide();
    announce('The card details are hidden.');
  };
  const intervalTimer = setInterval(tick, 1_000);
  timer.hidden = false;
  tick();
}
addEventListener('pagehide', hide);
