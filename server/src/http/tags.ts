// Descriptions of tags, in the order of the document, and of schemas without a description. A test compares
// the descriptions with the document.

export const TAGS: Readonly<Record<string, string>> = {
  'Platform Configuration':
    'Settings of the platform: enabled currencies and their limits, the webhook endpoint, fees, ' +
    'and the branding of messages to users.',
  'API Tokens':
    'Credentials of the platform. Each token has its own permissions and can be revoked ' +
    'individually.',
  Customers:
    'Individuals and businesses that the platform serves. Customers own accounts and payments. ' +
    'Customers are registered one by one or imported from a CSV file.',
  Documents:
    'Identity and business documents of customers and beneficial owners, uploaded as evidence ' +
    'for their verification.',
  'KYC/KYB Verifications':
    'Identity verification of individuals (KYC) and businesses (KYB), including beneficial ' +
    'owners and the hosted verification page. A customer must be approved ' +
    'before it can send or receive payments.',
  'Contact Verification':
    'One-time codes that verify the e-mail address and telephone number of a customer, if ' +
    'regulation requires verified contacts.',
  Invitations: 'Invitations to obtain a UMA address. An invitation can be claimed on any platform.',
  'Internal Accounts':
    'Accounts that the platform keeps for customers and for itself, each with a balance in one ' +
    'currency. Payments debit and credit them.',
  'Embedded Wallet Auth':
    'Credentials, sessions and delegated keys of embedded wallets. Operations on the keys of a ' +
    'wallet are signed by its owner.',
  'External Accounts':
    'Bank accounts, mobile money accounts and blockchain wallets outside the platform that ' +
    'payments go to or are funded from, with the proof of their ownership.',
  'Strong Customer Authentication':
    'Authentication factors of customers, login, trusted beneficiaries and the authorization of ' +
    'payments with a second factor.',
  'Exchange Rates': 'Current exchange rates between currencies, fees included.',
  Discoveries:
    'Banks, mobile operators and other payment providers that can be paid in a currency.',
  'Cross-Currency Transfers':
    'Quotes with a locked exchange rate, and their execution. Includes payee discovery by UMA ' +
    'address or external account.',
  'Available UMA Providers': 'UMA providers that payments can be sent to or received from.',
  VASPs:
    'Virtual asset service providers, for the travel rule information of digital asset payments.',
  'Same-Currency Transfers':
    'Transfers between an internal and an external account in the same currency. Deprecated: ' +
    'create a quote with equal currencies instead.',
  'Agent Management':
    'Software agents that act for a customer within a policy: registration, spending limits, ' +
    'device codes and the approval of actions.',
  'Agent Operations':
    'Operations that an agent calls with its own access token. The operations are limited to the customer ' +
    'and the policy of the agent.',
  Cards: 'Payment cards that are funded from an internal account.',
  Transactions:
    'Incoming, outgoing and card payments, with their status, and the approval of payments that ' +
    'wait for the platform.',
  Webhooks: 'Delivery of events to the endpoint of the platform, and a test of the endpoint.',
  Sandbox:
    'Simulation of payments, card messages and webhooks. Available with sandbox credentials ' +
    'only. No funds leave the platform.',
  'Webhook Endpoints':
    'Further receivers of events, each with its own filter and signing keys. The endpoint of the ' +
    'platform configuration is the first.',
  Events:
    'All events of the resources of the platform, as a list and as a stream to follow, ' +
    'with or without a webhook endpoint.',
  'Webhook Deliveries':
    'Result of each event at each endpoint: attempts, responses and the time of the next ' +
    'attempt. Events can be sent again.',
  Stablecoins:
    'Stablecoins that the platform issues through a provider: registration, minting, burning and ' +
    'the operations in progress.',
  'Sandbox Fixtures':
    'Reset of a sandbox platform, and fixtures that create a known state before a test.',
  'Sandbox Clock':
    'The clock of a sandbox platform. Advancing it executes all work that becomes due, so ' +
    'that the return of a payment after two days can be tested in a second.',
  Requests:
    'Recorded requests of the platform, with errors and their details. A request is found by the ' +
    '`X-Request-Id` of its reply.',
};

/** Descriptions of unions, of pages and of schemas that several operations share. */
const SCHEMA_DESCRIPTIONS: Readonly<Record<string, string>> = {
  AgentAccountRestrictions: 'Accounts that an agent may use, and rules for single accounts.',
  AgentAccountRule: 'Execution mode and payment limit of an agent for one account.',
  AgentActionListResponse: 'A page of actions of agents.',
  AgentActionRejectRequest: 'The rejection of an action.',
  AgentCreateResponse: 'The created agent, with the device code that connects it.',
  AgentDeviceCodeStatusResponse: 'Whether a device code was redeemed.',
  AgentListResponse: 'A page of agents.',
  AgentPolicy: 'Permissions, spending limits, accounts and approval thresholds of an agent.',
  AgentPolicyUpdateRequest: 'Changes of a policy. Absent fields are unchanged.',
  AgentSpendingLimitsUpdate: 'Changes of spending limits. Absent limits are unchanged.',
  AgentTransferDetails: 'The transfer that an action requests.',
  AuthCredentialCreateRequestOneOf: 'A new credential of a wallet, by its type.',
  AuthCredentialResponseOneOf: 'A credential of a wallet, by its type.',
  AuthCredentialVerifyRequestOneOf: 'The proof of a credential, by its type.',
  BusinessCustomerCreateRequest: 'A new business customer.',
  DiscoveryListResponse: 'Banks and mobile wallet operators.',
  ExchangeRateListResponse: 'Exchange rates.',
  ExternalAccountListResponse: 'A page of external accounts.',
  InternalAccountExportRequest: 'The key to which the recovery phrase of a wallet is encrypted.',
  InternalAccountExportResponse: 'The encrypted recovery phrase of a wallet.',
  InternalAccountListResponse: 'A page of internal accounts.',
  PlatformInternalAccountListResponse: 'Internal accounts of the platform.',
  QuoteDestination: 'Destination of a quote, by its type.',
  QuoteSource: 'Source of a quote, by its type.',
  ScaFactorConfirmRequestOneOf: 'The proof that enrolls a factor, by its type.',
  ScaFactorConfirmResponseOneOf: 'The enrolled factor, by its type.',
  ScaFactorEnrollRequestOneOf: 'A factor to enroll, by its type.',
  ScaFactorEnrollStartOneOf: 'Data with which the customer confirms a factor, by its type.',
  TransactionDestination: 'Destination of a payment, by its type.',
  TransactionListResponse: 'A page of transactions.',
  TransactionOneOf: 'A transaction, by its type.',
  TransactionSource: 'Source of a payment, by its type.',
};

/** The schema with the description of this table, unless it has a description or a title. */
export function withSchemaDescription(name: string, schema: unknown): unknown {
  const description = SCHEMA_DESCRIPTIONS[name];
  const { description: own, title } = schema as { description?: string; title?: string };
  if (description === undefined || own !== undefined || title !== undefined) return schema;
  return { description, ...(schema as object) };
}

export const describedSchemas = Object.keys(SCHEMA_DESCRIPTIONS);
