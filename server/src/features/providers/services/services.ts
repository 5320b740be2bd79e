// Services of providers besides transfers. In each environment the first route of a service selects its
// provider; without a route the built-in connector serves it.

import type { Connectors, FundingPort, IdentityPort } from '../../../connectors/ports/index.ts';
import type { Service } from '../../../connectors/ports/providers/services.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Provider, ProviderDirectory } from '../directory.ts';
import { routedCustody } from './custody.ts';
import { routedFirmQuotes } from './firm-quotes.ts';
import { routedMint } from './mint.ts';
import { providerOfService } from './select.ts';

/** Pending cases of a paused provider continue; it gets no new ones. */
function identityOf(of: (isPausedToo?: boolean) => Provider | undefined) {
  const port = of(true)?.port.identity;
  if (!port) return undefined;
  const submit: IdentityPort['submit'] = async (submitted) => {
    const active = of();
    if (!active) throw new Error('the provider of identity checks is paused');
    return active.port.identity.submit(submitted);
  };
  return { check: port.check, submit };
}

/** Account details in the currencies of the provider, and the built-in ones in others. */
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

/** The connectors of an environment, with the services that its providers serve now. */
export function withServices(
  directory: ProviderDirectory,
  environment: Mode,
  builtIn: Connectors,
): Connectors {
  const of = (service: Service) => providerOfService(directory, environment, service)?.port;
  const identity = identityOf((isPausedToo) =>
    providerOfService(directory, environment, 'identity', isPausedToo),
  );
  return {
    ...builtIn,
    names: of('account_check')?.names ?? builtIn.names,
    rates: of('rates')?.rates ?? builtIn.rates,
    custody: routedCustody(directory, environment, builtIn.custody),
    firmQuotes: routedFirmQuotes(directory, environment),
    identity: identity ?? builtIn.identity,
    funding: fundingOf(providerOfService(directory, environment, 'funding'), builtIn.funding),
    mail: of('email')?.mail ?? builtIn.mail,
    sms: of('sms')?.sms ?? builtIn.sms,
    mint: routedMint({ directory, environment, builtIn: builtIn.mint }),
  };
}
