// Payments to UMA addresses at other providers: payee discovery, then quote and execution. The
// documented sandbox addresses select the outcome.
import { ADDRESSES } from '../../harness/outcomes.ts';
import { isActive, type Sim } from '../../harness/sim.ts';
import {
  type Action,
  expected,
  inSandbox,
  internalAccountOf,
  PAID_IN,
  payers,
  rejection,
} from '../action.ts';
import { feesBarred, orderOf, UNQUOTABLE } from './payments.ts';

async function quoteUma(sim: Sim): Promise<string> {
  const payer = sim.chance.of(payers(sim).filter(inSandbox));
  const source = internalAccountOf(sim, payer, PAID_IN);
  const [address, suffix] = sim.chance.of(Object.entries(ADDRESSES));
  const to = `${address}@sandbox.uma.money`;
  const query = payer.id ? `?customerId=${payer.id}` : '';
  const path = `/receiver/uma/${encodeURIComponent(to)}${query}`;
  const discovery = await sim.call('GET', path, undefined, payer.platform);
  if (suffix === null) return `${rejection(discovery, ['UMA_NOT_FOUND'])}`;
  const body = {
    source: { sourceType: 'ACCOUNT', accountId: source.id },
    destination: { destinationType: 'UMA_ADDRESS', umaAddress: to },
    lookupId: expected(discovery, 200).lookupId,
    lockedCurrencySide: sim.chance.of(['SENDING', 'RECEIVING']),
    lockedCurrencyAmount: sim.chance.between(1, 50_000),
    senderCustomerInfo: { FULL_NAME: 'Ada Lovelace' },
  };
  const response = await sim.call('POST', '/quotes', body, payer.platform);
  const isFrozen = !isActive(sim, source) || feesBarred(sim, payer, source.currency);
  const code = rejection(response, isFrozen ? ['INVALID_INPUT', ...UNQUOTABLE] : UNQUOTABLE);
  if (code) return code;
  const accounts = { source, internalAccount: null, externalAccount: null };
  const order = orderOf(sim, accounts, expected(response, 201), payer);
  order.ending = suffix;
  sim.orders.push(order);
  return `${order.sent} ${source.currency} to ${address}`;
}

export const UMA: readonly Action[] = [
  {
    name: 'create a quote to a UMA address',
    weight: 4,
    ready: (sim) => payers(sim).some(inSandbox),
    run: quoteUma,
  },
];
