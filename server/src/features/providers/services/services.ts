// Services of providers, such as e-mail and exchange rates. In each environment the routes of a
// service select its provider. Without a route the built-in connector provides the service.

import type { Connectors, FundingPort, IdentityPort } from '../../../connectors/ports/index.ts';
import type { Service } from '../../../connectors/ports/providers/services.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Provider, ProviderDirectory } from '../directory.ts';
import { routedCustody } from './custody.ts';
import { routedFirmQuotes } from './firm-quotes.ts';
import { routedMint } from './mint.ts';
import { providerOfService } from './select.ts';

/** A paused provider receives no new verifications. Pending verifications continue. */
function identityOf(providerOf: (includesPaused?: boolean) => Provider | undefined) {
  const port = providerOf(true)?.port.identity;
  if (!port) return undefined;
  const submit: IdentityPort['submit'] = async (verification) => {
    const activeProvider = providerOf();
    if (!activeProvider) throw new Error('the provider of identity verifications is paused');
    return activeProvider.port.identity.submit(verification);
  };
  return { check: port.check, submit };
}

/**
 * Requests account details from the provider in its currencies, and from the built-in connector in
 * all others.
 */
function fundingOf(
  provider: Provider | undefined,
  builtIn: FundingPort | undefined,
): FundingPort | undefined {
  if (!provider) return builtIn;
  const { funding } = provider.port;
  const isRequested = (currency: string) =>
    provider.capabilities?.fundingCurrencies?.includes(currency) ?? false;
  return {
    instructions: (account) =>
      isRequested(account.currency) ? [] : (builtIn?.instructions(account) ?? []),
    isRequested,
    request: funding.request,
    forPayment: (payment) =>
      isRequested(payment.currency)
        ? funding.forPayment(payment)
        : (builtIn?.forPayment?.(payment) ?? []),
  };
}

/** Returns the connectors of an environment, with the services that its providers currently provide. */
export function withServices(
  directory: ProviderDirectory,
  environment: Mode,
  builtIn: Connectors,
): Connectors {
  const serviceOf = (service: Service) => providerOfService(directory, environment, service)?.port;
  const identity = identityOf((includesPaused) =>
    providerOfService(directory, environment, 'identity', includesPaused),
  );
  return {
    ...builtIn,
    names: serviceOf('account_check')?.names ?? builtIn.names,
    rates: serviceOf('rates')?.rates ?? builtIn.rates,
    custody: routedCustody(directory, environment, builtIn.custody),
    firmQuotes: routedFirmQuotes(directory, environment),
    identity: identity ?? builtIn.identity,
    funding: fundingOf(providerOfService(directory, environment, 'funding'), builtIn.funding),
    mail: serviceOf('email')?.mail ?? builtIn.mail,
    sms: serviceOf('sms')?.sms ?? builtIn.sms,
    mint: routedMint({ directory, environment, builtIn: builtIn.mint }),
  };
}
