// The scripted providers of the sandbox: the input determines their responses.
import { Type } from '@sinclair/typebox';
import { matches, textSetting } from '../../kernel/settings.ts';
import { defineConnector } from '../connector.ts';
import { OidcIssuers } from '../ports/shared-settings.ts';
import { cardNumbers } from './cards/card-numbers.ts';
import { sandboxIssuer } from './cards/issuer.ts';
import { sandboxDocuments } from './identity/documents.ts';
import { sandboxIdentity } from './identity/identity.ts';
import { sandboxLiveness } from './identity/liveness.ts';
import { sandboxOidc, sandboxWalletScript } from './identity/wallets.ts';
import { sandboxFunding } from './payments/funding.ts';
import { sandboxPaymentFunding } from './payments/funding-payment.ts';
import { sandboxBeneficiaryVerification } from './payments/names.ts';
import { sandboxNetworkFees } from './payments/network-fees.ts';
import { sandboxRail } from './payments/rail.ts';
import { sandboxRates } from './payments/rates.ts';
import { sandboxMint } from './stablecoins/mint.ts';
import { sandboxUma } from './uma/uma.ts';

const settings = Type.Object({
  sandboxUmaDomain: textSetting(
    {
      env: 'RAILHEAD_SANDBOX_UMA_DOMAIN',
      flag: 'sandbox-uma-domain',
      fallback: 'sandbox.uma.money',
      value: 'NAME',
      help: 'additional domain for the scripted UMA addresses of the sandbox',
    },
    matches(
      /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/,
      'must be a domain in lower case',
    ),
  ),
  oidcIssuers: OidcIssuers,
});

export const sandbox = defineConnector({
  name: 'sandbox',
  description: 'Scripted providers for development.',
  modes: ['sandbox'],
  settings,
  capabilities: [
    ...(['rail', 'names', 'rates', 'funding', 'identity', 'networkFees', 'uma'] as const),
    ...(['liveness', 'documents', 'oidc', 'walletScript', 'mint'] as const),
  ],
  optional: ['issuer'],
  open: ({ effects, keys }, { sandboxUmaDomain, oidcIssuers }) => ({
    rail: sandboxRail,
    names: sandboxBeneficiaryVerification,
    rates: sandboxRates(effects.now),
    funding: { ...sandboxFunding, forPayment: sandboxPaymentFunding },
    identity: sandboxIdentity,
    networkFees: sandboxNetworkFees,
    uma: sandboxUma(sandboxUmaDomain),
    liveness: sandboxLiveness,
    documents: sandboxDocuments,
    oidc: sandboxOidc(oidcIssuers),
    walletScript: sandboxWalletScript,
    mint: sandboxMint,
    // Card numbers are sealed, so the issuer requires keys.
    ...(keys ? { issuer: sandboxIssuer(cardNumbers(effects, keys)) } : {}),
  }),
});
