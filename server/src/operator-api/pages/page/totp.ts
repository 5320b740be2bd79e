// The form for a new password. It shows the secret of the authenticator app as a QR code and as text. It
// requires the password, and a code that shows that the app is set up.
import encodeQR from 'qr';
import { action, h } from '../../../features/customers/hosted-verification/page/dom.ts';
import { createForm, FIELDS, type Form, type Problem, type Values } from './form.ts';
import { TEXTS } from './texts.ts';
import { announce, paragraph } from './view.ts';

export interface TotpEnrollment {
  state: string;
  secret: string;
  uri: string;
}

const SVG = 'http://www.w3.org/2000/svg';
const COPIED_MS = 2_000;

/** The QR code as an image of its squares. */
function qrCode(text: string): SVGElement {
  const rows = encodeQR(text, 'raw', { border: 4 });
  const squares = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  const image = document.createElementNS(SVG, 'svg');
  const path = document.createElementNS(SVG, 'path');
  const attributes = {
    viewBox: `0 0 ${rows.length} ${rows.length}`,
    role: 'img',
    'aria-label': TEXTS.totp.qr,
    'shape-rendering': 'crispEdges',
    class: 'qr',
  };
  for (const [name, value] of Object.entries(attributes)) image.setAttribute(name, value);
  path.setAttribute('d', squares.join(''));
  image.append(path);
  return image;
}

function copyButton(label: string, value: string): HTMLElement {
  const button = action(
    TEXTS.copy,
    async () => {
      await navigator.clipboard.writeText(value);
      announce(TEXTS.copied);
      button.textContent = TEXTS.copied;
      setTimeout(() => {
        button.textContent = TEXTS.copy;
      }, COPIED_MS);
    },
    { kind: 'small', label: `${TEXTS.copy}: ${label}` },
  );
  return button;
}

/** The secret in groups of four, which are easier to type. The copied text has no spaces. */
const groupsOfFour = (secret: string): string => secret.replace(/(.{4})(?=.)/g, '$1 ');

const row = (label: string, value: string, shownText = value) =>
  h(
    'div',
    {},
    h('dt', {}, label),
    h('dd', { class: 'copied' }, h('span', { class: 'code' }, shownText), copyButton(label, value)),
  );

/** The form for a new password. `email` is shown so that password managers store it. */
export function passwordForm(
  { secret, uri }: TotpEnrollment,
  email: string | undefined,
  submit: (values: Values) => Promise<Problem | undefined>,
  secondaryButtons: readonly HTMLElement[] = [],
): Form {
  const { totp } = TEXTS;
  const account = email ? [{ ...FIELDS.email, value: email, isReadOnly: true }] : [];
  return createForm({
    fields: [...account, FIELDS.newPassword, FIELDS.code],
    submitLabel: totp.submit,
    submit,
    leadingElements: [
      paragraph(totp.sameApp),
      h(
        'div',
        { class: 'card app' },
        h('h2', {}, totp.scan),
        qrCode(uri),
        paragraph(totp.manual, 'hint'),
        h('dl', {}, row(totp.secret, secret, groupsOfFour(secret)), row(totp.uri, uri)),
      ),
    ],
    secondaryButtons,
  });
}
