// Mints and burns of a provider: the account of a platform at the provider, its tokens, and orders.
// Amounts of tokens are strings, because they can exceed the integers of JSON.

import { type Static, type TSchema, Type } from '@sinclair/typebox';
import {
  named,
  nullable,
  oneOf,
  text,
  time,
  variant,
  withDescription,
} from '../../../kernel/schema.ts';
import { ISSUANCE_STATUSES } from '../stablecoins.ts';
import { CurrencyText, type ProviderCall, seconds, shortText } from './fields.ts';

const optional = Type.Optional;
const CheckAfter = seconds('Seconds until Railhead requests the state again. Default: 60.');
const BaseCurrency = withDescription(
  CurrencyText,
  'Code of the currency that the token is pegged to, such as `EUR`.',
);
const TokenAmount = (description: string) =>
  Type.String({ pattern: '^(0|[1-9][0-9]{0,18})$', description });

const Credentials = Type.Object(
  {
    clientId: shortText('ID of the client at the provider.'),
    clientSecret: shortText('Secret of the client.'),
  },
  { description: 'Credentials that the platform entered in Railhead.' },
);

const Account = named(
  'StablecoinAccount',
  Type.Object(
    {
      credentials: Credentials,
      providerAccountId: shortText('ID of the account at the provider.'),
    },
    { description: 'The account of a platform at the provider.' },
  ),
);

const Token = named(
  'StablecoinTokenName',
  Type.Object(
    {
      providerTokenIdentifier: shortText('ID of the token at the provider.'),
      networkTokenIdentifier: shortText('ID of the token on its network.'),
      network: shortText('Blockchain network of the token, such as `SPARK`.'),
    },
    { description: 'A token of the platform.' },
  ),
);

const unlinkedReply = Type.Object(
  {
    reason: oneOf(['invalid', 'revoked'], {
      description: 'invalid: wrong credentials. revoked: the account holder revoked the access.',
    }),
  },
  { description: 'The credentials are not accepted. The platform must link its account again.' },
);

export const StablecoinAccounts = named(
  'StablecoinAccounts',
  Type.Object(
    {
      accounts: Type.Array(shortText('ID of an account at the provider.'), {
        maxItems: 100,
        description:
          'IDs of the accounts that the credentials can access. Empty: the credentials are wrong.',
      }),
    },
    { description: 'Accounts of a platform.' },
  ),
);

export const StablecoinToken = named(
  'StablecoinToken',
  variant(
    'result',
    {
      found: Type.Object(
        {
          name: shortText('Name of the token.'),
          symbol: shortText('Symbol of the token.'),
          decimals: Type.Integer({
            minimum: 2,
            maximum: 18,
            description: 'Number of decimal places of the token.',
          }),
          baseCurrency: BaseCurrency,
          issuance: oneOf(ISSUANCE_STATUSES, { description: 'Status of the issuance.' }),
          supply: TokenAmount('Circulating supply, in minor units of the token.'),
          checkAfterSeconds: optional(CheckAfter),
        },
        { description: 'The token and the status of its issuance.' },
      ),
      absent: Type.Object({}, { description: 'The token is unknown to the provider.' }),
      mismatch: Type.Object(
        {},
        { description: 'The network identifier belongs to another token.' },
      ),
      unlinked: unlinkedReply,
    },
    { description: 'Result of a request for a token.' },
  ),
);

const LINK_PROBLEMS = [
  ...(['LINK_FAILED', 'LINK_METHOD_REQUIRED', 'NOT_LINKED', 'NOT_SUPPORTED'] as const),
  ...(['PROVIDER_LINK_REQUIRED', 'PROVIDER_LINK_FAILED'] as const),
] as const;

export const StablecoinLink = named(
  'StablecoinLink',
  variant(
    'result',
    {
      linked: Type.Object(
        { reference: shortText('ID of the external account at the provider, for orders.') },
        { description: 'The external account can be used.' },
      ),
      rejected: Type.Object(
        { problem: oneOf(LINK_PROBLEMS, { description: 'Reason for the rejection.' }) },
        { description: 'The external account cannot be used.' },
      ),
      unlinked: unlinkedReply,
    },
    { description: 'Result of the registration of an external account.' },
  ),
);

const OrderAccount = Type.Object({
  accountId: shortText('ID of the external account at Railhead.'),
  rail: shortText('Use of the external account: a rail of a burn, `ACH_DEBIT`, or `SPARK`.'),
  reference: shortText('`reference` of its registration.'),
});

const Order = named(
  'StablecoinOrder',
  Type.Object(
    {
      orderId: shortText(
        'Unique ID of the order, identical in every attempt. A repeated order must be executed ' +
          'only once.',
      ),
      type: oneOf(['MINT', 'BURN'], { description: 'MINT creates tokens, BURN destroys them.' }),
      account: Account,
      token: Token,
      decimals: Type.Integer({ description: 'Number of decimal places of the token.' }),
      baseCurrency: BaseCurrency,
      amount: TokenAmount('Amount in minor units of the token.'),
      source: shortText('Funding of a mint, or source of the tokens of a burn, as in the API.'),
      rail: shortText('Rail over which tokens or funds are delivered, as in the API.'),
      from: optional({ ...OrderAccount, description: 'Account that is debited. Absent: none.' }),
      to: optional({
        ...OrderAccount,
        description: 'Account that receives tokens or funds. Absent: none.',
      }),
      description: nullable(text('Purpose that the platform entered, or null if there is none.')),
      orderedAt: time('Time of the order.'),
    },
    { description: 'An order of a mint or burn.' },
  ),
);

const Funding = Type.Object(
  {
    rail: shortText('Rail of the payment.'),
    network: shortText('Network of the payment.'),
    address: shortText('Account number or blockchain address that receives the payment.'),
    valueType: shortText('Currency, or ID of the token.'),
  },
  {
    additionalProperties: true,
    description: 'Payment that the order waits for. Further fields are shown to the platform.',
  },
);

const Delivery = Type.Object(
  {
    rail: shortText('Rail of the delivery.'),
    amount: TokenAmount('Amount of `currency` in minor units.'),
    currency: CurrencyText,
    timing: shortText('Estimated time, such as `MINUTES`.'),
  },
  { description: 'Estimate of the delivery.' },
);

export const StablecoinPreview = named(
  'StablecoinPreview',
  variant(
    'result',
    {
      accepted: Type.Object(
        {
          fundingInstructions: optional(Funding),
          expiresAt: optional(time('Time until which the payment is accepted.')),
          estimatedDelivery: optional(Delivery),
        },
        { description: 'The order would be accepted. No order was placed.' },
      ),
      rejected: Type.Object(
        { reason: shortText('Reason for the rejection, shown to the platform.') },
        { description: 'The order would be rejected.' },
      ),
      no_source: Type.Object(
        {},
        { description: 'The balance of the account is too low for the order.' },
      ),
      unlinked: unlinkedReply,
    },
    { description: 'Result of the validation of an order.' },
  ),
);

const status = { providerStatus: shortText('The name of this state at the provider.') };
const pendingFields = { ...status, checkAfterSeconds: optional(CheckAfter) };
const amount = TokenAmount(
  'Executed amount in minor units of the token, equal to the amount of the order. Default: the ' +
    'amount of the order.',
);

const ORDER_STATES = {
  funding: Type.Object(pendingFields, { description: 'The order waits for the payment.' }),
  submitted: Type.Object(pendingFields, {
    description: 'The order was accepted and requires no payment.',
  }),
  processing: Type.Object(pendingFields, { description: 'The order is being executed.' }),
  unknown: Type.Object(pendingFields, {
    description: 'The provider cannot determine the state. Railhead requests the state again.',
  }),
  completed: Type.Object(
    { ...status, amount: optional(amount) },
    { description: 'Final: tokens and funds were delivered.' },
  ),
  failed: Type.Object(
    { ...status, reason: shortText('Reason for the failure, such as `PROVIDER_TRANSFER_FAILED`.') },
    { description: 'Final: no tokens or funds were delivered, or all were returned.' },
  ),
  expired: Type.Object(
    {
      ...status,
      isFinal: optional(
        Type.Boolean({ description: 'Whether a late payment is rejected. Default: false.' }),
      ),
    },
    { description: 'The order was not paid in time.' },
  ),
};

/** A state, as a message reports it. */
export const StablecoinOrderState = named(
  'StablecoinOrderState',
  variant('state', ORDER_STATES, {
    description: 'State of a mint or burn. `unknown` is never treated as a failure.',
  }),
);
export type StablecoinOrderState = Static<typeof StablecoinOrderState>;

export const StablecoinOrderReply = named(
  'StablecoinOrderReply',
  variant(
    'state',
    { ...ORDER_STATES, unlinked: unlinkedReply },
    { description: 'State of a mint or burn.' },
  ),
);

export const STABLECOIN_MESSAGES = {
  'stablecoin.order': Type.Object(
    {
      orderId: shortText('ID of the order, as in the call that placed it.'),
      order: StablecoinOrderState,
    },
    { description: 'State of a mint or burn.' },
  ),
};

const LinkInput = Type.Object(
  {
    account: Account,
    externalAccountId: shortText('ID of the external account at Railhead.'),
    details: Type.Record(Type.String(), Type.Unknown(), {
      description: '`accountType` and the fields of that type, as in the API.',
    }),
    rail: shortText('Use of the external account: a rail of a burn, `ACH_DEBIT`, or `SPARK`.'),
  },
  { description: 'Registers an external account for one use.' },
);

const call = (operationId: string, summary: string, input: TSchema, output: TSchema) =>
  ({ operationId, summary, input, output }) satisfies ProviderCall;

export const STABLECOIN_CALLS: Readonly<Record<string, ProviderCall>> = {
  '/stablecoins/accounts': call(
    'getStablecoinAccounts',
    'Return the accounts that credentials can access',
    Credentials,
    StablecoinAccounts,
  ),
  '/stablecoins/token': call(
    'getStablecoinToken',
    'Return a token and the status of its issuance',
    Type.Object({ account: Account, token: Token }, { description: 'A token of an account.' }),
    StablecoinToken,
  ),
  '/stablecoins/link': call(
    'linkStablecoinAccount',
    'Register an external account. Repeated calls register it only once',
    LinkInput,
    StablecoinLink,
  ),
  '/stablecoins/prepare': call(
    'prepareStablecoinOrder',
    'Validate a mint or burn without ordering it',
    Order,
    StablecoinPreview,
  ),
  '/stablecoins/submit': call(
    'submitStablecoinOrder',
    'Execute a mint or burn. Repeated calls execute it only once',
    Order,
    StablecoinOrderReply,
  ),
  '/stablecoins/state': call(
    'getStablecoinOrder',
    'Return the state of a mint or burn, or 404 if it is unknown',
    Order,
    StablecoinOrderReply,
  ),
};
