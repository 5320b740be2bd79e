// The page of a single-use link: registers a passkey, or a password with an authenticator app. The secret
// is in the fragment of the address, which browsers do not send, and is removed from the address bar.
import { action, h } from '../../../features/customers/hosted-verification/page/dom.ts';
import { call, type Rejection } from './api.ts';
import { createForm, FIELDS, type Problem, problem, type Values } from './form.ts';
import { TEXTS } from './texts.ts';
import { passwordForm, type TotpEnrollment } from './totp.ts';
import {
  backLink,
  buttons,
  command,
  formatTime,
  goTo,
  paragraph,
  show,
  showLoadError,
  showWrongAddress,
} from './view.ts';
import {
  type Creation,
  createPasskey,
  deviceName,
  type PasskeyOptions,
  passkeyProblem,
  supportsPasskeys,
} from './webauthn.ts';

interface Link {
  kind: 'ENROLLMENT' | 'RECOVERY';
  name: string;
  email?: string;
  needsIdentity: boolean;
  expiresAt: string;
}

const { enroll, passkey, totp } = TEXTS;

/** Moves the secret from the address bar to the state of the history, which reloads preserve. */
function takeSecret(): string {
  const addressSecret = location.hash.slice(1);
  const storedSecret = (history.state as { secret?: string } | null)?.secret ?? '';
  const secret = addressSecret || storedSecret;
  history.replaceState({ secret }, '', location.pathname);
  return secret;
}

function showInvalidLink(): void {
  show(
    enroll.ended,
    paragraph(enroll.endedText),
    ...enroll.endedNext.map((each) => paragraph(each)),
    command(enroll.recoverCommand),
    paragraph(enroll.firstNext),
    buttons(action(enroll.toSignIn, () => goTo('/sign-in'))),
  );
}

/** Replaces the form with a page after certain rejections, or returns the error of the form. */
function problemOf(rejection: Rejection, secret: string): Problem | undefined {
  const { code, reason, errors } = rejection;
  if (code === 'LINK_ENDED') showInvalidLink();
  else if (code === 'FORBIDDEN') showWrongAddress(reason, `#${secret}`);
  else {
    // Fields of the request that the form does not have.
    const isHidden = errors.some(({ field }) => /^(credential|state)/.test(field));
    return isHidden ? problem(passkey.notRegistered) : rejection;
  }
  return undefined;
}

/** Creates a passkey and signs in with it. */
async function register(secret: string, values: Values): Promise<Problem | undefined> {
  const { passkeyName, ...identity } = values;
  const input = { secret, ...identity };
  const options = await call<PasskeyOptions<Creation>>(
    'POST',
    '/enrollment/passkey-options',
    input,
  );
  if (options.isRejected) return problemOf(options, secret);
  const { state, publicKey } = options.body;
  let credential: object;
  try {
    credential = await createPasskey(publicKey);
  } catch (error) {
    return problem(passkeyProblem(error));
  }
  const body = { ...input, state, passkeyName, credential };
  const reply = await call('POST', '/enrollment/passkey', body);
  if (reply.isRejected) return problemOf(reply, secret);
  finish();
  return undefined;
}

/** Removes the secret from the history before the next page. */
function finish(): void {
  history.replaceState(null, '');
  goTo('');
}

function showPasswordForm(
  secret: string,
  link: Link,
  identity: Values,
  enrollment: TotpEnrollment,
) {
  const submit = async (values: Values): Promise<Problem | undefined> => {
    const { password, code } = values;
    const body = { secret, ...identity, state: enrollment.state, password, code };
    const reply = await call('POST', '/enrollment/password', body);
    if (reply.isRejected) return problemOf(reply, secret);
    finish();
    return undefined;
  };
  const email = identity.email ?? link.email;
  const form = passwordForm(enrollment, email, submit);
  show(
    totp.title,
    backLink(() => showStart(secret, link, identity)),
    form.root,
  );
}

/** The fields of the first view, without the name of the passkey. */
const identityOf = ({ passkeyName: _, ...identity }: Values): Values => identity;

function showStart(secret: string, link: Link, previousValues: Values = {}): void {
  const { kind, name, email, needsIdentity, expiresAt } = link;
  const isRecovery = kind === 'RECOVERY';
  const identityFields = needsIdentity ? [FIELDS.name, FIELDS.email] : [];
  const passkeyField = { ...FIELDS.passkeyName, value: deviceName() };
  const canUsePasskeys = supportsPasskeys();
  const openPasswordForm = async (values: Values): Promise<Problem | undefined> => {
    const identity = identityOf(values);
    const enrollment = await call<TotpEnrollment>('POST', '/enrollment/totp', {
      secret,
      ...identity,
    });
    if (enrollment.isRejected) return problemOf(enrollment, secret);
    showPasswordForm(secret, link, identity, enrollment.body);
    return undefined;
  };
  const passwordAction = action(totp.use, async () => {
    const values = form.validValues();
    const problem = values && (await openPasswordForm(values));
    if (problem) form.showProblem(problem);
  });
  const form = createForm({
    fields: [
      ...identityFields.map((each) => ({ ...each, value: previousValues[each.name] })),
      ...(canUsePasskeys ? [passkeyField] : []),
    ],
    submitLabel: canUsePasskeys ? passkey.create : totp.use,
    submit: (values) => (canUsePasskeys ? register(secret, values) : openPasswordForm(values)),
    leadingElements: [paragraph(canUsePasskeys ? passkey.about : passkey.unsupported)],
  });
  show(
    isRecovery ? enroll.recovery : enroll.title,
    h(
      'div',
      { class: 'about' },
      !needsIdentity && paragraph(enroll.for(name, email)),
      paragraph(enroll.until(formatTime(expiresAt))),
      isRecovery && paragraph(enroll.replaces),
    ),
    form.root,
    canUsePasskeys && h('p', { class: 'or' }, TEXTS.or),
    canUsePasskeys && buttons(passwordAction),
  );
}

export async function openEnroll(): Promise<void> {
  const secret = takeSecret();
  // Another link in the same tab changes the fragment only.
  addEventListener('hashchange', () => location.hash && location.reload());
  if (!secret) return showInvalidLink();
  const reply = await call<Link>('POST', '/enrollment', { secret });
  if (!reply.isRejected) return showStart(secret, reply.body);
  if (reply.code === 'LINK_ENDED' || reply.code === 'INVALID_INPUT') return showInvalidLink();
  if (reply.code === 'FORBIDDEN') return showWrongAddress(reply.reason, `#${secret}`);
  showLoadError(reply, openEnroll);
}
