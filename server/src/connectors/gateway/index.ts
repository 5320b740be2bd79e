// The provider protocol over HTTP. Providers are rows of a table, so this connector is not in the
// registry. `features/providers` connects each provider.

import type { ProviderProtocol } from '../ports/providers/port.ts';
import { Balances, Capabilities, StatementPage } from '../ports/providers/protocol.ts';
import { cardCalls } from './cards.ts';
import { NOT_FOUND, providerClient } from './client.ts';
import { custodyCalls } from './custody.ts';
import { firmQuotes } from './firm-quotes.ts';
import {
  accountChecks,
  fundingCalls,
  identityChecks,
  messagePort,
  providerRates,
  rateProblem,
  verdictOf,
} from './services.ts';
import { mintCalls, orderProgressOf } from './stablecoins.ts';
import { progressOf, recallProgressOf, transferCalls } from './transfers.ts';

export const gateway: ProviderProtocol = {
  connect(effects, provider) {
    const client = providerClient(effects, provider);
    return {
      async capabilities() {
        return client.call('/capabilities', {}, Capabilities);
      },
      async balances() {
        return (await client.call('/balances', {}, Balances)).balances;
      },
      transfers: transferCalls(client),
      names: accountChecks(client),
      rates: providerRates(client, effects, provider.reportedRates),
      identity: identityChecks(client),
      funding: fundingCalls(client),
      mail: messagePort(client, 'email'),
      sms: messagePort(client, 'sms'),
      custody: custodyCalls(client),
      firmQuotes: firmQuotes(client),
      mint: mintCalls(client),
      async statementPage(request) {
        const reply = await client.callOrNotFound('/statements/day', request, StatementPage);
        return reply === NOT_FOUND ? undefined : reply;
      },
      cards: cardCalls(client),
    };
  },
  progressOf,
  recallProgressOf,
  verdictOf,
  orderProgressOf,
  rateProblem,
};
