// The plan of the world `business`: the actions of each customer with their times, as steps. The plan depends
// only on its input. Volume grows, follows the hours of a day, and is lower at weekends.
import type { Time } from '../../../kernel/effects.ts';
import { accountOf, setStatus } from '../world/builders.ts';
import { cardPayment, newCard } from './card-steps.ts';
import { type Extras, extrasOf } from './extras.ts';
import { PAYOUT_CURRENCIES, type PayoutCurrency, payeeIn, RAILS } from './payees.ts';
import { type Customer, customersOf } from './people.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';
import type { Action, PlanInput, PlannedStep } from './steps.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Time before the first payment of a new customer. The issuer of its card responds within this time. */
const SETTLING_MS = 6 * HOUR_MS;

/** Approximate number of units of a currency for one US dollar. */
const UNITS_PER_DOLLAR: Readonly<Record<string, number>> = {
  USD: 1,
  EUR: 1,
  MXN: 17,
  INR: 84,
  BRL: 5,
  NGN: 1_500,
  PHP: 57,
};

/** A customer and its planned resources. */
interface Holder {
  customer: Customer;
  random: SeededRandom;
  /** Minor units by currency. */
  balances: Map<string, number>;
  payees: { name: string; currency: PayoutCurrency }[];
  hasCard: boolean;
  /** Number of step names that `nextName` has generated. */
  count: number;
}

const numberOf = ({ customer }: Holder) => customer.key.replace(/\D/g, '');

/** The name of the next step of a holder. */
const nextName = (holder: Holder, kind: string) => `${kind}${numberOf(holder)}-${++holder.count}`;

const accountName = ({ customer }: Holder, currency: string) => `${customer.key}-${currency}`;

/** A plausible amount in minor units. Small amounts are more frequent. */
function amountOf({ customer: { isBusiness }, random }: Holder, currency: string): number {
  const [min, max] = isBusiness ? [300, 14_000] : [25, 1_400];
  const dollars = min * (max / min) ** random.next();
  const multiple = random.is(0.4) ? 100 : 1;
  return Math.round((dollars * 100 * (UNITS_PER_DOLLAR[currency] ?? 1)) / multiple) * multiple;
}

function deposit(holder: Holder, currency: string, amount: number, reason?: string): PlannedStep {
  if (!reason) holder.balances.set(currency, (holder.balances.get(currency) ?? 0) + amount);
  return {
    operationId: 'sandboxFundInternalAccount',
    params: { accountId: `$${accountName(holder, currency)}.data.0.id` },
    body: { amount, ...(reason ? { pendingReason: reason } : {}) },
  };
}

const payee = (holder: Holder, name: string, body: object): PlannedStep => ({
  name,
  operationId: 'createCustomerExternalAccount',
  body: { customerId: `$${holder.customer.key}.id`, ...body },
});

function newPayee(holder: Holder, suffix?: string) {
  const currency = holder.random.pick(PAYOUT_CURRENCIES);
  const name = nextName(holder, 'payee');
  return { name, currency, step: payee(holder, name, payeeIn(currency, holder.random, suffix)) };
}

/** Registration, the check of a business, accounts, payees, first deposits and possibly a card. */
function joinSteps(holder: Holder): PlannedStep[] {
  const { customer, random } = holder;
  const { key, isBusiness, localCurrency } = customer;
  const currencies = ['USD', ...(localCurrency ? [localCurrency] : [])];
  const payees = Array.from({ length: random.integer(1, 3) }, () => newPayee(holder));
  holder.payees.push(...payees);
  holder.hasCard = customer.country !== 'DE' && random.is(0.5);
  const verification: PlannedStep[] = [
    {
      operationId: 'createBeneficialOwner',
      body: {
        customerId: `$${key}.id`,
        roles: ['UBO'],
        ownershipPercentage: random.integer(26, 100),
        personalInfo: {
          firstName: 'Robin',
          lastName: customer.name.split(' ')[0],
          birthDate: '1979-05-14',
          nationality: 'US',
          address: customer.body.address,
          idType: 'SSN',
          identifier: `123-45-${random.integer(1_000, 9_999)}`,
        },
      },
    },
    { operationId: 'createVerification', body: { customerId: `$${key}.id` } },
  ];
  return [
    { name: key, operationId: 'createCustomer', body: { ...customer.body, currencies } },
    ...(isBusiness ? verification : []),
    ...currencies.map((currency) => accountOf(accountName(holder, currency), key, currency)),
    ...payees.map(({ step }) => step),
    ...currencies.map((currency) => deposit(holder, currency, 3 * amountOf(holder, currency))),
    ...(holder.hasCard ? [newCard(key, accountName(holder, 'USD'))] : []),
  ];
}

/**
 * Suffixes of accounts whose payouts fail, are canceled or are returned, more frequent ones several
 * times.
 */
const FAILURES = [
  ...['002', '002', '004', '004', '005', '005', '005', '008', '008', '008', '006', '007'],
] as const;
const FAILURE_RATE = 0.075;

const PURPOSES = ['Invoice', 'Order', 'Services', 'Rent', 'Supplies'] as const;

function payout(holder: Holder, currency: string, amount: number): PlannedStep[] {
  const { random } = holder;
  const isFailing = random.is(FAILURE_RATE);
  const newPayeeEntry = isFailing ? newPayee(holder, random.pick(FAILURES)) : undefined;
  const selectedPayee = newPayeeEntry ?? random.pick(holder.payees);
  const rails = RAILS[selectedPayee.currency];
  const name = nextName(holder, 'quote');
  return [
    ...(newPayeeEntry ? [newPayeeEntry.step] : []),
    {
      name,
      operationId: 'createQuote',
      body: {
        source: {
          sourceType: 'ACCOUNT',
          accountId: `$${accountName(holder, currency)}.data.0.id`,
        },
        destination: {
          destinationType: 'ACCOUNT',
          accountId: `$${selectedPayee.name}.id`,
          ...(rails && random.is(0.8) ? { paymentRail: random.pick(rails) } : {}),
        },
        lockedCurrencySide: 'SENDING',
        lockedCurrencyAmount: amount,
        description: `${random.pick(PURPOSES)} ${random.integer(1_000, 9_999)}`,
        ...(selectedPayee.currency === 'INR' ? { purposeOfPayment: 'GOODS_OR_SERVICES' } : {}),
      },
      mayBeRejected: true,
    },
    { operationId: 'executeQuote', params: { quoteId: `$${name}.id` }, mayBeRejected: true },
  ];
}

/**
 * A payout or a deposit. The result is a deposit for customers in Germany, for a balance below 120%
 * of the amount, and for 12% of the payments at random.
 */
function payOrDeposit(holder: Holder): PlannedStep[] {
  const { random, balances, customer } = holder;
  const currency = customer.localCurrency && random.is(0.3) ? customer.localCurrency : 'USD';
  const amount = amountOf(holder, currency);
  const balance = balances.get(currency) ?? 0;
  // Customers in Germany must authenticate each payout. The plan has no steps for this.
  if (balance < amount * 1.2 || random.is(0.12) || customer.country === 'DE') {
    const depositAmount = Math.max(2 * amount, amountOf(holder, currency));
    return [deposit(holder, currency, depositAmount)];
  }
  balances.set(currency, balance - amount);
  return payout(holder, currency, amount);
}

/** A deposit that is held for review, and its decision unless the deposit is less than two days old. */
function heldDeposit(holder: Holder, at: Time, until: Time): Action[] {
  const owner = holder.customer.key;
  const name = nextName(holder, 'held');
  const depositAction: Action = {
    at,
    owner,
    steps: [
      deposit(holder, 'USD', amountOf(holder, 'USD') * 4, 'COMPLIANCE_REVIEW'),
      {
        name,
        operationId: 'listTransactions',
        query: { customerId: `$${owner}.id`, type: 'INCOMING', limit: 1 },
      },
    ],
  };
  if (until - at < 2 * DAY_MS) return [depositAction];
  const status = holder.random.is(0.8) ? 'COMPLETED' : 'FAILED';
  const decision = setStatus(`$${name}.data.0.id`, status);
  return [
    depositAction,
    { at: at + holder.random.integer(2, 30) * HOUR_MS, owner, steps: [decision] },
  ];
}

/** Times of payments. The number grows and depends on the day of the week and the hour. */
function timesOf({ from, until, payments }: PlanInput, random: SeededRandom): Time[] {
  const days = Array.from({ length: Math.ceil((until - from) / DAY_MS) }, (_, day) => {
    const start = from + day * DAY_MS;
    const isWeekend = [0, 6].includes(new Date(start).getUTCDay());
    const growth = 0.6 + (0.8 * start - 0.8 * from) / (until - from);
    return { start, weight: growth * (isWeekend ? 0.5 : 1.1) * (0.85 + 0.3 * random.next()) };
  });
  const total = days.reduce((sum, { weight }) => sum + weight, 0);
  const times = days.flatMap(({ start, weight }) => {
    const midnight = Math.floor(start / DAY_MS) * DAY_MS;
    return Array.from({ length: Math.round((payments * weight) / total) }, () => {
      // The volume is highest at midday in the Americas.
      const hour = 8 + 5 * (random.next() + random.next() + random.next());
      return midnight + Math.floor(hour * HOUR_MS);
    });
  });
  return times.filter((at) => at > from + HOUR_MS && at < until).sort((a, b) => a - b);
}

/** Number of customers for a number of payments. */
const customersFor = (payments: number) => Math.max(8, Math.min(150, Math.round(payments / 33)));

/** The times at which customers join: a third in the first hour, the others from 28% to 85% of the time. */
function joinTimes(input: PlanInput, random: SeededRandom): { at: Time; holder: Holder }[] {
  const customers = customersOf(customersFor(input.payments), random);
  return customers.map((customer, index) => {
    const isFirst = index < customers.length / 3;
    const spanMs = isFirst ? HOUR_MS : (input.until - input.from) * 0.85;
    const at = input.from + Math.floor(((index + 1) / customers.length) * spanMs);
    const customerRandom = seededRandom(customer.key);
    const initialState = { balances: new Map(), payees: [], hasCard: false, count: 0 };
    return { at, holder: { customer, random: customerRandom, ...initialState } };
  });
}

/** A card payment, a deposit or a payout of a customer, with its subsequent actions. */
function activity(holder: Holder, at: Time, until: Time): Action[] {
  const { random, customer } = holder;
  const owner = customer.key;
  if (holder.hasCard && random.is(0.5)) {
    const balance = holder.balances.get('USD') ?? 0;
    const amount = Math.min(amountOf(holder, 'USD') / 8, 24_000);
    if (balance > amount * 3) {
      holder.balances.set('USD', balance - amount);
      return cardPayment(
        { owner, name: nextName(holder, 'card'), amount: Math.ceil(amount) },
        at,
        random,
      );
    }
  }
  if (random.is(0.008)) return heldDeposit(holder, at, until);
  return [{ at, owner, steps: payOrDeposit(holder) }];
}

/** All actions of the period, in the order of time. */
export function businessPlan(input: PlanInput): Action[] {
  const random = seededRandom('business');
  const { until } = input;
  const arrivals = joinTimes(input, random);
  const actions: Action[] = arrivals.map(({ at, holder }) => ({
    at,
    owner: holder.customer.key,
    steps: joinSteps(holder),
  }));
  for (const at of timesOf(input, random)) {
    const activeHolders = arrivals.filter((each) => each.at < at - SETTLING_MS);
    if (!activeHolders.length) continue;
    // The distribution is skewed, so that some customers pay far more often than others.
    const index = Math.floor(random.next() ** 1.7 * activeHolders.length);
    actions.push(
      ...activity((activeHolders[index] as (typeof activeHolders)[number]).holder, at, until),
    );
  }
  const extras: Extras = { ...input, keys: arrivals.map(({ holder }) => holder.customer.key) };
  actions.push(...extrasOf(extras, random));
  return actions.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
}
