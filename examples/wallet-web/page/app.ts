// The page: visible sections and button handlers. Wallet functions are in wallet.ts. External data is
// inserted as text, never as markup.
import type { ApiError } from './api.ts';
import * as wallet from './wallet.ts';

declare const SANDBOX: boolean;

const POLL_MS = 500;

const TYPES = {
  EMAIL_OTP: 'Code by e-mail',
  SMS_OTP: 'Code by text message',
  OAUTH: 'Account of an identity provider',
  PASSKEY: 'Passkey',
};

const elementById = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const field = (id: string) => elementById<HTMLInputElement>(id);
const showMessage = (id: 'trouble' | 'news', text: string) => {
  elementById(id).textContent = text;
};

let email = '';
let code: { credential: wallet.Credential; bundle: string } | undefined;
let offer: wallet.Quote | undefined;

const formatMoney = (units: number, decimals: number) =>
  (units / 10 ** decimals).toLocaleString('en', {
    minimumFractionDigits: 2,
    maximumFractionDigits: decimals,
  });

/** Parses an amount into millionths, without floating point. */
function parseMillionths(text: string): number {
  const [integerPart, fraction = ''] = text.split('.');
  return Number(`${integerPart}${fraction.padEnd(6, '0')}`);
}

function show(name: 'welcome' | 'ways' | 'wallet') {
  for (const section of ['welcome', 'ways', 'wallet'])
    elementById(section).hidden = section !== name;
  elementById('sign-out').hidden = name !== 'wallet';
  elementById(name === 'wallet' ? 'balance-title' : `${name}-title`).focus();
}

function clearPage() {
  wallet.clearSession();
  hideWords();
  closeOffer();
  show('welcome');
}

/** Runs one action of the button at a time and shows its error. */
function whileBusy(button: HTMLButtonElement, work: () => Promise<void> | void) {
  return async () => {
    if (button.getAttribute('aria-disabled') === 'true') return;
    button.setAttribute('aria-disabled', 'true');
    showMessage('trouble', '');
    showMessage('news', '');
    try {
      await work();
    } catch (error) {
      const { code, message, name } = error as ApiError;
      if (code === 'SIGN_IN') clearPage();
      const isCanceled = name === 'NotAllowedError';
      showMessage('trouble', isCanceled ? 'The passkey was not used.' : message);
    } finally {
      button.removeAttribute('aria-disabled');
    }
  };
}

const onPress = (button: HTMLButtonElement, work: () => Promise<void> | void) =>
  button.addEventListener('click', whileBusy(button, work));

function onSubmit(id: string, work: () => Promise<void>) {
  const form = elementById<HTMLFormElement>(id);
  const handler = whileBusy(form.querySelector('button') as HTMLButtonElement, work);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void handler();
  });
}

function createButton(label: string, work: () => Promise<void>, kind = '') {
  const element = document.createElement('button');
  element.type = 'button';
  element.className = kind;
  element.textContent = label;
  onPress(element, work);
  return element;
}

function createRow(text: string, control?: HTMLElement) {
  const item = document.createElement('li');
  const line = document.createElement('div');
  line.append(text, ...(control ? [control] : []));
  item.append(line);
  return item;
}

const formatTime = (iso: string) =>
  new Date(iso).toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit' });

async function refresh() {
  const [balance, credentials, sessions] = await Promise.all([
    wallet.balance(),
    wallet.credentials(),
    wallet.sessions(),
  ]);
  elementById('balance').textContent = formatMoney(balance, 6);
  elementById('credentials').replaceChildren(
    ...credentials.map(({ type, nickname }) => createRow(`${TYPES[type]}: ${nickname}`)),
  );
  elementById('sessions').replaceChildren(
    ...sessions.map(({ id, type, createdAt, expiresAt }) => {
      const isCurrent = id === wallet.session()?.id;
      const period = `${formatTime(createdAt)} to ${formatTime(expiresAt)}`;
      const description = `${TYPES[type]}, ${period}${isCurrent ? ' (this page)' : ''}`;
      return createRow(
        description,
        isCurrent ? undefined : createButton('Revoke', () => endSession(id)),
      );
    }),
  );
}

async function endSession(id: string) {
  await wallet.endSession(id);
  await refresh();
  elementById('sessions-title').focus();
  showMessage('news', 'The session was revoked.');
}

async function enter() {
  await refresh();
  show('wallet');
}

async function showSignInMethods() {
  const credentials = await wallet.visit(email);
  const codes = credentials.filter(({ type }) => type === 'EMAIL_OTP');
  const passkeys = credentials.filter(({ type }) => type === 'PASSKEY');
  elementById('who').textContent = email;
  elementById('code-form').hidden = true;
  elementById('ways-list').replaceChildren(
    ...passkeys.map((passkey) =>
      createButton(
        `Passkey: ${passkey.nickname}`,
        async () => {
          await wallet.signInByPasskey(passkey);
          await enter();
        },
        'primary',
      ),
    ),
    ...codes.map((credential) => createButton('Send me a code', () => sendCode(credential))),
  );
  show('ways');
}

async function sendCode(credential: wallet.Credential) {
  code = { credential, bundle: await wallet.sendCode(credential) };
  elementById('code-form').hidden = false;
  field('code').value = '';
  field('code').focus();
}

function closeOffer() {
  offer = undefined;
  elementById('offer').hidden = true;
  elementById('pay-form').hidden = false;
}

/** Shows the payment before the holder signs it. */
async function showOffer() {
  offer = await wallet.quote(parseMillionths(field('amount').value));
  elementById('sending').textContent = `${formatMoney(offer.totalSendingAmount, 6)} USDB`;
  elementById('receiving').textContent = `${formatMoney(offer.totalReceivingAmount, 2)} EUR`;
  elementById('pay-form').hidden = true;
  elementById('offer').hidden = false;
  elementById('confirm').focus();
}

async function confirmPayment() {
  if (!offer) return;
  let payment = await wallet.pay(offer);
  closeOffer();
  elementById('pay-title').focus();
  field('amount').value = '';
  showMessage('news', 'Sending the payment …');
  while (payment.status === 'PROCESSING') {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    payment = await wallet.quoteNow(payment);
  }
  await refresh();
  if (payment.status === 'COMPLETED') showMessage('news', 'The payment was sent.');
  else showMessage('trouble', 'The payment failed. The funds were returned to your wallet.');
}

function hideWords() {
  elementById('words').replaceChildren();
  elementById('words').hidden = true;
  elementById('export').textContent = 'Show the words';
}

async function toggleWords() {
  if (!elementById('words').hidden) return hideWords();
  const phrase = await wallet.exportWords();
  elementById('words').replaceChildren(
    ...phrase.map((word) => {
      const item = document.createElement('li');
      item.textContent = word;
      return item;
    }),
  );
  elementById('words').hidden = false;
  elementById('export').textContent = 'Hide the words';
}

onSubmit('email-form', async () => {
  email = field('email').value;
  await showSignInMethods();
});
onSubmit('code-form', async () => {
  if (!code) return;
  await wallet.signInByCode(code.credential, code.bundle, field('code').value.trim());
  await enter();
});
onSubmit('pay-form', showOffer);
onSubmit('passkey-form', async () => {
  await wallet.addPasskey(field('nickname').value, email);
  await refresh();
  showMessage('news', 'The passkey was added.');
});
onPress(elementById('another'), () => show('welcome'));
onPress(elementById('confirm'), confirmPayment);
onPress(elementById('decline'), () => {
  closeOffer();
  elementById('pay-title').focus();
});
onPress(elementById('export'), toggleWords);
onPress(elementById('fund'), async () => {
  await wallet.fund();
  await refresh();
});
onPress(elementById('sign-out'), async () => {
  await wallet.endSession((wallet.session() as wallet.Session).id);
  clearPage();
  showMessage('news', 'You are signed out.');
});
elementById('fund').hidden = !SANDBOX;
elementById('code-hint').hidden = !SANDBOX;
