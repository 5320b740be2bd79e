// The account of the signed-in user: sign-in methods and sessions.
import { action, h } from '../../../features/customers/hosted-verification/page/dom.ts';
import { BASE, call, type Rejection, type Reply, useCsrfToken } from './api.ts';
import { createForm, createSummary, FIELDS, type Problem, problem, type Values } from './form.ts';
import { TEXTS } from './texts.ts';
import { passwordForm, type TotpEnrollment } from './totp.ts';
import {
  announce,
  backLink,
  buttons,
  formatTime,
  goTo,
  paragraph,
  show,
  showLoadError,
  timeElement,
} from './view.ts';
import {
  type Creation,
  createPasskey,
  deviceName,
  type PasskeyOptions,
  passkeyProblem,
  supportsPasskeys,
} from './webauthn.ts';

interface Passkey {
  id: string;
  name: string;
  usedAt?: string;
  createdAt: string;
}

interface Account {
  session: { method: keyof typeof TEXTS.account.methods; expiresAt: string };
  user: {
    name: string;
    email?: string;
    roles: string[];
    platformIds: string[] | null;
    hasPassword: boolean;
  };
  csrfToken: string;
}

const { account: texts, totp, passkey: passkeyTexts } = TEXTS;

/** Returns the problem, or opens the sign-in page after the end of the session. */
function problemOf(rejection: Rejection): Problem | undefined {
  if (rejection.status === 401) goTo('/sign-in');
  else if (rejection.errors.some(({ field }) => /^(credential|state)/.test(field))) {
    return problem(passkeyTexts.notRegistered);
  } else return rejection;
  return undefined;
}

/** A message above the content, which may offer to sign in again. */
function createMessages() {
  const summary = createSummary();
  const root = h('div', { class: 'messages' }, summary.root);
  const signInLink = h(
    'a',
    { class: 'button', href: `${BASE}/operator/sign-in` },
    texts.signInAgain,
  );
  return {
    root,
    done(text: string) {
      const outcome = h('div', { class: 'outcome good' }, paragraph(text));
      summary.root.replaceChildren(outcome);
      announce(text);
    },
    show(rejection: Rejection) {
      const problem = problemOf(rejection);
      if (!problem) return;
      summary.show([{ text: problem.reason }], problem.requestId);
      // Sign-in methods can be changed only shortly after a sign-in.
      if (rejection.code === 'FORBIDDEN') summary.root.append(buttons(signInLink));
    },
  };
}

type Messages = ReturnType<typeof createMessages>;

const item = (label: string, value: string | undefined) =>
  value && h('div', {}, h('dt', {}, label), h('dd', {}, value));

const section = (title: string, ...content: (Node | false)[]) =>
  h('section', { class: 'card' }, h('h2', {}, title), ...content);

const profileSection = ({ user, session }: Account) =>
  section(
    texts.profile,
    h(
      'dl',
      {},
      item(texts.name, user.name),
      item(texts.email, user.email),
      item(texts.roles, user.roles.join(', ')),
      item(texts.platforms, user.platformIds?.join(', ') ?? texts.allPlatforms),
      item(
        texts.session,
        texts.sessionText(texts.methods[session.method], formatTime(session.expiresAt)),
      ),
    ),
  );

function passkeyRow(passkey: Passkey, messages: Messages): HTMLElement {
  const { id, name, usedAt, createdAt } = passkey;
  const row = h('li');
  const remove = async () => {
    const reply = await call('DELETE', `/session/passkeys/${id}`);
    if (!reply.isRejected) return openAccount(texts.removed(name));
    showRow();
    messages.show(reply);
  };
  const showRow = () => {
    const usedText = usedAt ? [`, ${texts.used} `, timeElement(usedAt)] : [`, ${texts.neverUsed}`];
    row.replaceChildren(
      h(
        'div',
        {},
        h('b', {}, name),
        h('p', { class: 'hint' }, `${texts.added} `, timeElement(createdAt), ...usedText),
      ),
      action(texts.remove, confirm, { kind: 'small', label: texts.removeLabel(name) }),
    );
  };
  const confirm = () => {
    const keepButton = action(texts.keep, () => {
      showRow();
      row.querySelector('button')?.focus();
    });
    const box = h(
      'div',
      {},
      paragraph(texts.confirmRemoval(name)),
      buttons(action(texts.removePasskey, remove, { kind: 'danger' }), keepButton),
    );
    row.replaceChildren(box);
    keepButton.focus();
  };
  showRow();
  return row;
}

/** Registers a further passkey. */
async function register({ passkeyName }: Values): Promise<Reply<Passkey> | string> {
  const options = await call<PasskeyOptions<Creation>>('POST', '/session/passkey-options');
  if (options.isRejected) return options;
  const { state, publicKey } = options.body;
  try {
    const credential = await createPasskey(publicKey);
    return call('POST', '/session/passkeys', { name: passkeyName, state, credential });
  } catch (error) {
    return passkeyProblem(error);
  }
}

function showAddPasskey(): void {
  const messages = createMessages();
  const nameField = { ...FIELDS.passkeyName, value: deviceName() };
  const submit = async (values: Values): Promise<Problem | undefined> => {
    const reply = await register(values);
    if (typeof reply === 'string') return problem(reply);
    if (reply.isRejected) {
      messages.show(reply);
      return undefined;
    }
    await openAccount(texts.addedPasskey(reply.body.name));
    return undefined;
  };
  const form = createForm({
    fields: [nameField],
    submitLabel: passkeyTexts.create,
    submit,
    leadingElements: [paragraph(passkeyTexts.about)],
  });
  show(texts.add, backLink(openAccount), messages.root, form.root);
}

async function showSetPassword({ user }: Account, messages: Messages): Promise<void> {
  const enrollment = await call<TotpEnrollment>('POST', '/session/totp');
  if (enrollment.isRejected) return messages.show(enrollment);
  const submit = async ({ password, code }: Values): Promise<Problem | undefined> => {
    const body = { state: enrollment.body.state, password, code };
    const reply = await call('PUT', '/session/password', body);
    if (reply.isRejected) return problemOf(reply);
    await openAccount(texts.passwordSet);
    return undefined;
  };
  const form = passwordForm(enrollment.body, user.email, submit);
  show(totp.title, backLink(openAccount), form.root);
}

function passkeysSection(passkeys: readonly Passkey[], messages: Messages): HTMLElement {
  const list = h(
    'ul',
    { class: 'passkeys' },
    ...passkeys.map((each) => passkeyRow(each, messages)),
  );
  return section(
    texts.passkeys,
    passkeys.length ? list : paragraph(texts.noPasskeys),
    supportsPasskeys() && buttons(action(texts.add, showAddPasskey)),
  );
}

function showAccount(account: Account, passkeys: readonly Passkey[], confirmation?: string): void {
  const messages = createMessages();
  const signOut = async () => {
    const reply = await call('DELETE', '/session');
    if (!reply.isRejected || reply.status === 401) return goTo('/sign-in');
    messages.show(reply);
  };
  const endOthers = async () => {
    const reply = await call('POST', '/session/end-others');
    if (reply.isRejected) messages.show(reply);
    else messages.done(texts.endedOthers);
  };
  const { hasPassword } = account.user;
  const passwordLabel = hasPassword ? texts.changePassword : texts.setPassword;
  show(
    texts.title,
    messages.root,
    profileSection(account),
    passkeysSection(passkeys, messages),
    section(
      texts.password,
      paragraph(hasPassword ? texts.hasPassword : texts.noPassword),
      buttons(action(passwordLabel, () => showSetPassword(account, messages))),
    ),
    section(
      texts.sessions,
      paragraph(texts.sessionsText),
      buttons(action(texts.endOthers, endOthers)),
    ),
    buttons(action(texts.signOut, signOut)),
  );
  if (confirmation) messages.done(confirmation);
}

/** Opens the page. `confirmation` is a message about a completed change. */
export async function openAccount(confirmation?: string): Promise<void> {
  const [account, passkeys] = await Promise.all([
    call<Account>('GET', '/session'),
    call<{ data: Passkey[] }>('GET', '/session/passkeys'),
  ]);
  const rejection = [account, passkeys].find((each) => each.isRejected);
  if (rejection?.isRejected) {
    return rejection.status === 401 ? goTo('/sign-in') : showLoadError(rejection, openAccount);
  }
  if (account.isRejected || passkeys.isRejected) return;
  useCsrfToken(account.body.csrfToken);
  showAccount(account.body, passkeys.body.data, confirmation);
}
