// Settings that change during payments: daily limits and currencies. Other requests confirm
// receipts, or pay for customers who are not approved.
import { checkOutcome, runVerb } from '../../harness/operator.ts';
import { type Sim, violation } from '../../harness/sim.ts';
import {
  type Action,
  activePeople,
  bodyOf,
  PAYMENT_CURRENCIES,
  pickInternalAccount,
  rejectionCode,
} from '../action.ts';

const LIMIT_FLAGS = [
  ['--currency', 'USD'],
  ['--currency', 'USD', '--to', 'EUR'],
  ['--currency', 'USD', '--to', 'USD'],
  ['--currency', 'EUR'],
  ['--currency', 'MXN'],
];

async function setLimit(sim: Sim): Promise<string> {
  const platform = sim.chance.pick(sim.platforms);
  const perDay = String(sim.chance.pick([50, 500, 2_000, 10_000]));
  platform.hadDailyLimit = true;
  for (const order of sim.orders) {
    if (order.platform === platform && order.kind === 'realtime') order.expectedOutcome = null;
  }
  const args = [
    'platform',
    'set-limit',
    platform.id,
    ...sim.chance.pick(LIMIT_FLAGS),
    '--per-day',
    perDay,
  ];
  checkOutcome(await runVerb(sim, ...args), true, args.join(' '));
  return `${args.slice(3).join(' ')} of ${sim.platforms.indexOf(platform)}`;
}

async function removeLimit(sim: Sim): Promise<string> {
  const platform = sim.chance.pick(sim.platforms.filter((platform) => platform.hadDailyLimit));
  const args = ['platform', 'remove-limit', platform.id, ...sim.chance.pick(LIMIT_FLAGS)];
  const { rejection } = await runVerb(sim, ...args);
  if (rejection && rejection !== 'Limit not found.')
    throw violation(`${args.join(' ')}: ${rejection}`);
  return rejection ?? args.slice(3).join(' ');
}

const FURTHER_CURRENCIES = ['CAD', 'SGD', 'ZAR', 'KES', 'THB'];

/** Adds a currency. Accounts in it are opened for all customers, one after another. */
async function addCurrency(sim: Sim): Promise<string> {
  const platform = sim.chance.pick(sim.platforms);
  const config = bodyOf(await sim.call('GET', '/config', undefined, platform), 200);
  const previousCurrencies = config.supportedCurrencies as { currencyCode: string }[];
  const codes = previousCurrencies.map((currency) => currency.currencyCode);
  const remainingCodes = FURTHER_CURRENCIES.filter((code) => !codes.includes(code));
  if (remainingCodes.length === 0) return 'all supported';
  const currencyCode = sim.chance.pick(remainingCodes);
  const supportedCurrencies = [...previousCurrencies, { ...previousCurrencies[0], currencyCode }];
  bodyOf(await sim.call('PATCH', '/config', { supportedCurrencies }, platform), 200);
  return `${currencyCode} of ${sim.platforms.indexOf(platform)}`;
}

async function confirmReceipt(sim: Sim): Promise<string> {
  const order = sim.chance.pick(sim.orders);
  const time = sim.effects.now() + sim.chance.pick([0, -1_000, 60_000]);
  const body = { receiptDeliveryConfirmedAt: new Date(time).toISOString() };
  const path = `/transactions/${order.id}/confirm`;
  const response = await sim.call('POST', path, body, order.platform);
  if (time > sim.effects.now()) return `${rejectionCode(response, ['INVALID_INPUT'])}`;
  bodyOf(response, 200);
  return 'done';
}

const unapprovedPeople = (sim: Sim) => activePeople(sim).filter((person) => !person.mayPay);

/** A customer who is not approved cannot pay, regardless of the balance. */
async function payBeforeApproval(sim: Sim): Promise<string> {
  const person = sim.chance.pick(unapprovedPeople(sim));
  const source = pickInternalAccount(sim, person, PAYMENT_CURRENCIES);
  const platformOwner = sim.people.find(
    (candidate) => candidate.id === null && candidate.platform === person.platform,
  );
  const body = {
    source: { sourceType: 'ACCOUNT', accountId: source.id },
    destination: {
      destinationType: 'ACCOUNT',
      accountId: platformOwner?.internalAccounts.get('USD')?.id,
    },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 1_000,
    ...(sim.chance.percent(50) ? { immediatelyExecute: true } : {}),
  };
  const response = await sim.call('POST', '/quotes', body, person.platform);
  if (response.status < 400) throw violation(`${person.id} is not approved and received a quote`);
  return `${rejectionCode(response, ['USER_NOT_READY', 'INVALID_INPUT'])}`;
}

export const SETTINGS_ACTIONS: readonly Action[] = [
  { name: 'set a daily limit', weight: 0.7, run: setLimit },
  {
    name: 'remove a daily limit',
    weight: 0.7,
    isPossible: (sim) => sim.platforms.some((platform) => platform.hadDailyLimit),
    run: removeLimit,
  },
  { name: 'add a currency', weight: 0.4, run: addCurrency },
  {
    name: 'confirm a receipt',
    weight: 2,
    isPossible: (sim) => sim.orders.length > 0,
    run: confirmReceipt,
  },
  {
    name: 'pay before approval',
    weight: 1.5,
    isPossible: (sim) => unapprovedPeople(sim).length > 0,
    run: payBeforeApproval,
  },
];
