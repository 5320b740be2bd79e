// Sign-in with a passkey, a password with a code, or at the company's identity provider.
import { action, h } from '../../../features/customers/hosted-verification/page/dom.ts';
import { BASE, call, type Rejection } from './api.ts';
import { createForm, createSummary, FIELDS, type Problem, type Values } from './form.ts';
import { TEXTS } from './texts.ts';
import {
  backLink,
  buttons,
  command,
  goTo,
  paragraph,
  show,
  showLoadError,
  showWrongAddress,
} from './view.ts';
import {
  type PasskeyOptions,
  passkeyProblem,
  type Request,
  supportsPasskeys,
  usePasskey,
} from './webauthn.ts';

interface CompanyOptions {
  state: string;
  authorizationUrl: string;
}

const { signIn, passkey, enroll } = TEXTS;

/** Key of the state while the browser is at the identity provider. */
const STATE_KEY = 'railhead-operator-sign-in';

/** Key of the page of the console that required the sign-in. */
const RETURN_KEY = 'railhead-operator-return';
const CONSOLE_PATH = /^\/console(?:\/|$)/;

/** Stores the page of the console to open after the sign-in, also across a redirect. */
function keepReturnPath(path: string | null): void {
  if (path && CONSOLE_PATH.test(path)) sessionStorage.setItem(RETURN_KEY, path);
}

function openReturnPath(): void {
  const path = sessionStorage.getItem(RETURN_KEY);
  sessionStorage.removeItem(RETURN_KEY);
  if (path) location.replace(`${BASE}${path}`);
  else goTo('');
}

/** A rejection of a sign-in, with the text for this method. */
const problemOf = (rejection: Rejection, unauthorized: string): Problem =>
  rejection.status === 401 || rejection.code === 'INVALID_INPUT'
    ? { reason: unauthorized, errors: [] }
    : rejection;

/** Returns the error message, or undefined once the user is signed in. */
async function signInWithPasskey(): Promise<Problem | undefined> {
  const options = await call<PasskeyOptions<Request>>('POST', '/sign-in/passkey-options');
  if (options.isRejected) return options;
  const { state, publicKey } = options.body;
  let credential: object;
  try {
    credential = await usePasskey(publicKey);
  } catch (error) {
    return { reason: passkeyProblem(error), errors: [] };
  }
  const reply = await call('POST', '/sign-in/passkey', { state, credential });
  if (reply.isRejected) return problemOf(reply, signIn.passkeyRejected);
  openReturnPath();
  return undefined;
}

function showPasswordForm(): void {
  const submit = async (values: Values): Promise<Problem | undefined> => {
    const reply = await call('POST', '/sign-in/password', values);
    if (reply.isRejected) {
      return reply.status === 401 ? problemOf(reply, signIn.passwordRejected) : reply;
    }
    openReturnPath();
    return undefined;
  };
  const fields = [FIELDS.email, FIELDS.password, FIELDS.code];
  const form = createForm({ fields, submitLabel: signIn.submit, submit });
  show(
    signIn.passwordTitle,
    backLink(() => showStart()),
    form.root,
  );
  form.root.querySelector('input')?.focus();
}

/** Navigates to the identity provider, which redirects back to this page. */
async function openIdentityProvider(): Promise<Problem | undefined> {
  const reply = await call<CompanyOptions>('POST', '/sign-in/oidc-options');
  if (reply.isRejected) return reply;
  sessionStorage.setItem(STATE_KEY, reply.body.state);
  location.assign(reply.body.authorizationUrl);
  return undefined;
}

/** Adds the button for company accounts if the server has an identity provider. */
async function addCompanyButton(container: HTMLElement, button: HTMLElement): Promise<void> {
  const reply = await call('POST', '/sign-in/oidc-options');
  if (!reply.isRejected) container.append(button);
}

function showStart(currentProblem?: Problem): void {
  const summary = createSummary();
  const attempt = async (signInMethod: () => Promise<Problem | undefined>) => {
    summary.clear();
    const problem = await signInMethod();
    if (problem) summary.show([{ text: problem.reason }], problem.requestId);
  };
  const canUsePasskeys = supportsPasskeys();
  const passkeyButton = action(signIn.withPasskey, () => attempt(signInWithPasskey), {
    kind: 'primary',
  });
  const companyButton = action(signIn.withCompany, () => attempt(openIdentityProvider));
  const secondaryButtons = buttons(action(signIn.withPassword, showPasswordForm));
  show(
    signIn.title,
    summary.root,
    !canUsePasskeys && paragraph(passkey.unsupported),
    canUsePasskeys && buttons(passkeyButton),
    canUsePasskeys && h('p', { class: 'or' }, TEXTS.or),
    secondaryButtons,
    h(
      'div',
      { class: 'notes' },
      h('h2', {}, signIn.help),
      paragraph(signIn.helpText),
      command(enroll.recoverCommand),
    ),
  );
  if (currentProblem) summary.show([{ text: currentProblem.reason }], currentProblem.requestId);
  else if (canUsePasskeys) passkeyButton.focus({ preventScroll: true });
  void addCompanyButton(secondaryButtons, companyButton);
}

/** Completes the sign-in after the redirect from the identity provider. */
async function completeCompanySignIn(): Promise<void> {
  const callbackUrl = location.href;
  history.replaceState(null, '', location.pathname);
  show(signIn.companyWaiting, h('div', { class: 'skeleton' }));
  const state = sessionStorage.getItem(STATE_KEY);
  sessionStorage.removeItem(STATE_KEY);
  const failedProblem: Problem = { reason: signIn.companyRejected, errors: [] };
  if (!state) return showStart(failedProblem);
  const reply = await call('POST', '/sign-in/oidc', { state, callbackUrl });
  if (!reply.isRejected) return openReturnPath();
  showStart(problemOf(reply, signIn.companyRejected));
}

export async function openSignIn(): Promise<void> {
  const query = new URLSearchParams(location.search);
  if (query.has('state')) return completeCompanySignIn();
  keepReturnPath(query.get('to'));
  // Checked first, because sign-in is possible at one address only.
  const reply = await call('POST', '/sign-in/passkey-options');
  if (!reply.isRejected) return showStart();
  if (reply.code === 'FORBIDDEN') return showWrongAddress(reply.reason);
  showLoadError(reply, openSignIn);
}
