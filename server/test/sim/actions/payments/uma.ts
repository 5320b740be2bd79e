// Payments to UMA addresses at other providers by payee discovery, quote and execution. The
// documented sandbox addresses select the outcome.
import { ADDRESSES } from '../../harness/outcomes.ts';
import { isActive, type Sim } from '../../harness/sim.ts';
import {
  type Action,
  bodyOf,
  isInSandbox,
  PAYMENT_CURRENCIES,
  payers,
  pickInternalAccount,
  rejectionCode,
} from '../action.ts';
import { areFeesBlocked, orderOf, QUOTE_ERRORS } from './payments.ts';

async function createUmaQuote(sim: Sim): Promise<string> {
  const payer = sim.chance.pick(payers(sim).filter(isInSandbox));
  const source = pickInternalAccount(sim, payer, PAYMENT_CURRENCIES);
  const [address, outcome] = sim.chance.pick(Object.entries(ADDRESSES));
  const umaAddress = `${address}@sandbox.uma.money`;
  const query = payer.id ? `?customerId=${payer.id}` : '';
  const path = `/receiver/uma/${encodeURIComponent(umaAddress)}${query}`;
  const discovery = await sim.call('GET', path, undefined, payer.platform);
  if (outcome === null) return `${rejectionCode(discovery, ['UMA_NOT_FOUND'])}`;
  const body = {
    source: { sourceType: 'ACCOUNT', accountId: source.id },
    destination: { destinationType: 'UMA_ADDRESS', umaAddress },
    lookupId: bodyOf(discovery, 200).lookupId,
    lockedCurrencySide: sim.chance.pick(['SENDING', 'RECEIVING']),
    lockedCurrencyAmount: sim.chance.integerBetween(1, 50_000),
    senderCustomerInfo: { FULL_NAME: 'Ada Lovelace' },
  };
  const response = await sim.call('POST', '/quotes', body, payer.platform);
  const isFrozen = !isActive(sim, source) || areFeesBlocked(sim, payer, source.currency);
  const code = rejectionCode(
    response,
    isFrozen ? ['INVALID_INPUT', ...QUOTE_ERRORS] : QUOTE_ERRORS,
  );
  if (code) return code;
  const accounts = { source, internalAccount: null, externalAccount: null };
  const order = orderOf(sim, accounts, bodyOf(response, 201), payer);
  order.expectedOutcome = outcome;
  sim.orders.push(order);
  return `${order.sentAmount} ${source.currency} to ${address}`;
}

export const UMA_ACTIONS: readonly Action[] = [
  {
    name: 'create a quote to a UMA address',
    weight: 4,
    isPossible: (sim) => payers(sim).some(isInSandbox),
    run: createUmaQuote,
  },
];
