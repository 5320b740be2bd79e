// The HTML of hosted pages. If the platform is known, a page shows its name and logo, and in the
// sandbox a banner. All data is escaped as text.
import { createHash } from 'node:crypto';
import type { CardFace, LabeledValue, PageBrand, PageContent } from '../../kernel/contract/page.ts';
import { brandStyle } from './brand.ts';

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

/** A Content-Security-Policy source that allows exactly this inline text. */
export const hashSource = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Origins that are safe in a Content-Security-Policy directive. URLs allow `;` and `,` in host names. */
const PLAIN_ORIGIN = /^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d{1,5})?$/;

/** The origin of the logo as a Content-Security-Policy source. Empty without a usable logo. */
export function logoOrigin(brand: PageBrand | undefined): string {
  if (!brand?.logoUrl) return '';
  const { origin } = new URL(brand.logoUrl);
  return PLAIN_ORIGIN.test(origin) ? origin : '';
}

// The name next to the logo is the text alternative. Without dimensions, a logo that fails to load needs no
// space.
const logoHtml = (brand: PageBrand): string =>
  logoOrigin(brand)
    ? `<img class="logo" src="${escapeHtml(brand.logoUrl as string)}" alt="" referrerpolicy="no-referrer">\n`
    : '';

const SANDBOX_BANNER = `<div class="sandbox"><div class="inner">
<p><b>Sandbox</b> – test data only, no real money</p>
</div></div>
`;

const headerHtml = (brand: PageBrand): string =>
  `<header>
${brand.isSandbox ? SANDBOX_BANNER : ''}<div class="inner"><p class="brand">
${logoHtml(brand)}<span class="platform">${escapeHtml(brand.name)}</span></p></div>
</header>
`;

interface Document {
  title: string;
  brand: PageBrand | undefined;
  head: string;
  body: string;
}

/** The document around the content. */
export function documentHtml({ title, brand, head, body }: Document): string {
  const accent = brandStyle(brand);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(brand ? `${title} – ${brand.name}` : title)}</title>
${head}${accent && `<style>${accent}</style>\n`}</head>
<body>
${brand ? headerHtml(brand) : ''}${body}</body>
</html>
`;
}

const paragraphsHtml = (lines: readonly string[]) =>
  lines.map((line) => `<p>${escapeHtml(line)}</p>\n`).join('');

const messageHtml = ({ lines, tone }: PageContent) =>
  tone
    ? `<div class="outcome ${tone}"><div>\n${paragraphsHtml(lines)}</div></div>\n`
    : paragraphsHtml(lines);

const rowHtml = ({ label, value }: LabeledValue, actions = '') =>
  `<div><dt>${escapeHtml(label)}</dt>\n` +
  `<dd><span class="code">${escapeHtml(value)}</span>${actions}</dd></div>\n`;

const detailsHtml = (details: readonly LabeledValue[]) =>
  details.length ? `<dl>\n${details.map((each) => rowHtml(each)).join('')}</dl>\n` : '';

const copyButton = ({ label }: LabeledValue) =>
  `<button type="button" hidden data-copy="${escapeHtml(label)}" ` +
  `aria-label="Copy ${escapeHtml(label.toLowerCase())}">Copy</button>`;

const cardHtml = ({ name, network, details, hideAfterS }: CardFace) =>
  `<div class="payment-card" data-hide-after="${hideAfterS}">
<p class="issuer"><span>${escapeHtml(name)}</span><span>${escapeHtml(network)}</span></p>
<dl>
${details.map((each) => rowHtml(each, copyButton(each))).join('')}</dl>
</div>
<p class="timer hint" hidden></p>
<p data-expired hidden>The card details are hidden now. Request a new link to see them again.</p>
<p class="unseen" role="status"></p>
`;

function buttonsHtml({ button, decline }: PageContent): string {
  if (!button && !decline) return '';
  const primaryButton = button
    ? `<form method="post"><button type="submit" class="primary">${escapeHtml(button)}</button></form>\n`
    : '';
  const secondaryButton = decline
    ? `<a class="button" href="?answer=no">${escapeHtml(decline.label)}</a>\n`
    : '';
  return `<div class="buttons">\n${primaryButton}${secondaryButton}</div>\n`;
}

const notesHtml = ({ notes = [] }: PageContent) =>
  notes.length
    ? `<div class="notes">\n${notes
        .map(({ title, lines }) => `<h2>${escapeHtml(title)}</h2>\n${paragraphsHtml(lines)}`)
        .join('')}</div>\n`
    : '';

const FOOTER = '<footer><p>This link is personal. Do not forward it.</p></footer>\n';

/** Renders a page. `hasBackLink` adds a link to the page without an answer. */
export function pageHtml(
  content: PageContent,
  { style, script }: { style: string; script: string },
  hasBackLink = false,
): string {
  const { title, brand, details = [], card } = content;
  const backLink = hasBackLink ? '<p class="back"><a href="?">Back</a></p>\n' : '';
  const parts = [
    card ? cardHtml(card) : '',
    messageHtml(content),
    detailsHtml(details),
    buttonsHtml(content),
    notesHtml(content),
  ];
  const body = `<main>
${backLink}<h1>${escapeHtml(title)}</h1>
${parts.join('')}</main>
${brand ? FOOTER : ''}${card ? `<script>${script}</script>\n` : ''}`;
  return documentHtml({ title, brand, head: `<style>${style}</style>\n`, body });
}
