// Sentences about providers and routes: the offers and terms of a provider, the conditions of a
// route, and the reason why a route is selected.
import type { Item, Reply } from '../../api/client.ts';
import { moneyText } from '../../parts/money.tsx';
import { statusText } from '../../parts/status.tsx';
import { lowerFirst } from '../../texts/fields.ts';
import { PROVIDER_TEXTS as T } from '../../texts/providers.ts';

export type Provider = Reply<'getProvider'>;
export type Route = Item<'listProviderRoutes'>;
type Capabilities = NonNullable<Provider['capabilities']>;
type Offer = NonNullable<Capabilities['transfers']>[number];

const conjunction = new Intl.ListFormat('en', { type: 'conjunction' });

const sequence = (items: readonly string[]) => conjunction.format(items);

export const kindText = (kind: string): string => T.kinds[kind] ?? statusText(kind);

/** Text of several kinds, such as `Payouts and refunds`. */
const kindsText = ([firstKind = '', ...otherKinds]: readonly string[]) =>
  sequence([kindText(firstKind), ...otherKinds.map((each) => lowerFirst(kindText(each)))]);

/** `from 1.00 EUR to 5.00 EUR`, or undefined without a limit. */
function limitText(
  min: number | undefined,
  max: number | undefined,
  currency: string,
): string | undefined {
  const [minimum, maximum] = [min, max].map((amount) =>
    amount === undefined ? undefined : moneyText({ amount, currency }),
  );
  if (minimum !== undefined && maximum !== undefined) return T.between(minimum, maximum);
  if (minimum !== undefined) return T.from(minimum);
  return maximum === undefined ? undefined : T.upTo(maximum);
}

/** Maximum number of currencies whose limits are listed. */
const MAX_LIMITS = 3;

/**
 * The limits of an offer for at most `MAX_LIMITS` of its currencies, or undefined without limits.
 */
function limitsText({ currencies, minAmount, maxAmount }: Offer): string | undefined {
  const limits = currencies
    .slice(0, MAX_LIMITS)
    .flatMap((currency) => limitText(minAmount, maxAmount, currency) ?? []);
  if (limits.length === 0) return undefined;
  return T.limits(`${limits.join(', ')}${currencies.length > MAX_LIMITS ? ', …' : ''}`);
}

function offerText(offer: Offer): string {
  const rails = sequence(offer.rails.map(statusText));
  const parts = [
    T.offer(kindsText(offer.kinds), sequence(offer.currencies), rails),
    limitsText(offer),
    offer.countries && T.receivers(sequence(offer.countries)),
  ];
  return `${parts.filter(Boolean).join(', ')}.`;
}

function serviceText(service: string, currencies: readonly string[] | undefined): string {
  if (service === 'funding') return T.funding(currencies ? sequence(currencies) : T.anyCurrency);
  return T.services[service] ?? `${statusText(service)}.`;
}

/** The offers of a provider, one sentence each. */
export function offersOf({
  transfers = [],
  services = [],
  fundingCurrencies,
  cancel,
  cards,
  statements,
}: Capabilities): string[] {
  const sentences = [
    ...transfers.map(offerText),
    ...(transfers.length > 0 ? [cancel ? T.cancelable : T.notCancelable] : []),
    ...(cards ? [T.cards] : []),
    ...services.map((each) => serviceText(each, fundingCurrencies)),
    ...(statements ? [T.statements] : []),
  ];
  return sentences.length === 0 ? [T.offersNothing] : sentences;
}

export type Availability = keyof typeof T.availabilities;

export function availabilityOf({
  available,
  capabilities,
  problem,
}: Pick<Provider, 'available' | 'capabilities' | 'problem'>): Availability {
  if (!available) return 'unavailable';
  if (problem !== null) return 'failed';
  return capabilities === null ? 'unchecked' : 'available';
}

/** States whether a provider receives transfers. */
export function stateText(provider: Provider): string {
  if (provider.status === 'PAUSED') return T.states.paused;
  if (!provider.available) return T.states.unavailable;
  return provider.capabilities === null ? T.states.unchecked : T.states.available;
}

const TRANSFER_KINDS: readonly string[] = ['payout', 'debit', 'refund', 'card'];

export const isService = ({ kind }: Pick<Route, 'kind'>): boolean =>
  kind !== undefined && !TRANSFER_KINDS.includes(kind);

export const providerName = (providerId: string | null): string => providerId ?? T.builtIn;

export type PlatformNames = (platformId: string) => string;

const amountsText = ({ minAmount, maxAmount, currency = '' }: Route) =>
  limitText(minAmount, maxAmount, currency);

/** The conditions of a route: `Payouts in EUR over SEPA, up to 5,000.00 EUR, of Shop`. */
export function conditionsText(route: Route, nameOf: PlatformNames): string {
  const { kind, currency, rail, country, platformId } = route;
  if (kind !== undefined && isService(route)) return kindText(kind);
  const transferParts = [
    kind === undefined ? T.allTransfers : kindText(kind),
    currency !== undefined && T.inCurrency(currency),
    rail !== undefined && T.overRail(statusText(rail)),
  ];
  const parts = [
    transferParts.filter(Boolean).join(' '),
    country !== undefined && T.receivers(country),
    amountsText(route),
    platformId !== undefined && T.ofPlatform(nameOf(platformId)),
  ];
  return parts.filter(Boolean).join(', ');
}

export type Explained = Reply<'explainProviderRoute'>['routes'][number];

export interface Transfer {
  environment: string;
  platformId: string;
  kind: string;
  rail?: string;
  country?: string;
  currency: string;
  amount: number;
}

/** The first condition of a route that a transfer does not meet. */
function mismatchOf(route: Route, transfer: Transfer, nameOf: PlatformNames): string | undefined {
  const { environment, platformId, kind, rail, currency, country } = route;
  const { minAmount, maxAmount } = route;
  const { mismatches: M } = T;
  if (environment !== transfer.environment) return M.environment(environment);
  if (kind !== undefined && kind !== transfer.kind) return M.kind(lowerFirst(kindText(kind)));
  if (platformId !== undefined && platformId !== transfer.platformId)
    return M.platform(nameOf(platformId));
  if (currency !== undefined && currency !== transfer.currency) return M.currency(currency);
  if (rail !== undefined && rail !== transfer.rail) return M.rail(statusText(rail));
  if (country !== undefined && country !== transfer.country) return M.country(country);
  const isInLimits =
    transfer.amount >= (minAmount ?? transfer.amount) &&
    transfer.amount <= (maxAmount ?? transfer.amount);
  return isInLimits ? undefined : M.amount(amountsText(route) ?? '');
}

/**
 * States why a route is selected or not, with its cost and date. `transfer` is absent for an earlier choice,
 * which was stored without the transfer.
 */
export function verdictText(
  route: Explained,
  currency: string | undefined,
  nameOf: PlatformNames,
  transfer?: Transfer,
): string {
  const { verdict, cost, expectedOn } = route;
  const mismatch = transfer && verdict === 'OTHER_TRANSFERS' && mismatchOf(route, transfer, nameOf);
  const sentences = [
    mismatch ? T.mismatch(mismatch) : (T.verdicts[verdict] ?? `${statusText(verdict)}.`),
    cost !== undefined && currency && T.costs(moneyText({ amount: cost, currency })),
    verdict === 'SELECTED' && expectedOn !== undefined && T.arrives(expectedOn),
  ];
  return sentences.filter(Boolean).join(' ');
}

type Terms = Provider['terms'];

export const windowText = (minutes: number): string => T.windows[minutes] ?? T.minutes(minutes);

function pauseTexts({ autoPause }: Terms): string[] {
  if (!autoPause) return [];
  const { windowMinutes, minimum, errorPercent, returnPercent, resumeAfterProbe } = autoPause;
  const period = windowText(windowMinutes);
  return [
    ...(errorPercent === undefined ? [] : [T.errorPause(errorPercent, minimum, period)]),
    ...(returnPercent === undefined ? [] : [T.returnPause(returnPercent, minimum, period)]),
    ...(resumeAfterProbe ? [T.resumesItself] : []),
  ];
}

/** Limits, cut-off times, prefunding and automatic pause, as sentences. */
export function termsOf(terms: Terms): string[] {
  const { limits = [], cutOffs = [], prefunding = [] } = terms;
  const amount = (value: number, currency: string) => moneyText({ amount: value, currency });
  const limitTexts = limits.flatMap(({ currency, perTransfer, perDay }) => [
    ...(perTransfer === undefined ? [] : [T.perTransfer(amount(perTransfer, currency))]),
    ...(perDay === undefined ? [] : [T.perDay(amount(perDay, currency))]),
  ]);
  const prefundingTexts = prefunding.map(({ currency, alertBelow }) =>
    [
      T.prefunded(currency),
      ...(alertBelow === undefined ? [] : [T.alertBelow(amount(alertBelow, currency))]),
    ].join(' '),
  );
  return [
    ...limitTexts,
    ...cutOffs.map(({ rail, time, timeZone }) => T.cutOff(statusText(rail), time, timeZone)),
    ...prefundingTexts,
    ...pauseTexts(terms),
  ];
}
