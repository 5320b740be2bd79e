// Descriptions of the tags that group operations in the API document, in their order. A test
// compares them with the tags of the contracts.

export const TAGS: Readonly<Record<string, string>> = {
  'Platform Configuration':
    'Settings of the platform: enabled currencies and their limits, the webhook endpoint, fees, ' +
    'and the branding of messages to users.',
  'API Tokens':
    'Credentials of the platform. Each token has its own permissions and can be revoked ' +
    'individually.',
  Customers:
    'Individuals and businesses that the platform serves. Customers own accounts and payments. ' +
    'They are registered one by one or imported from a CSV file.',
  Documents:
    'Identity and business documents of customers and beneficial owners, uploaded as evidence ' +
    'for their verification.',
  'KYC/KYB Verifications':
    'Identity verification of individuals (KYC) and businesses (KYB), including beneficial ' +
    'owners and the hosted verification page. A customer must be approved before posting ' +
    'payments.',
  'Contact Verification':
    'One-time codes that verify the e-mail address and telephone number of a customer, where ' +
    'regulation requires it.',
  Invitations: 'Invitations to obtain a UMA address, which can be claimed on any platform.',
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
    'Quotes with a locked exchange rate, and their execution. Includes the lookup of payees by ' +
    'UMA address or external account.',
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
    'Operations that an agent calls with its own access token. They are limited to the customer ' +
    'and the policy of the agent.',
  Cards: 'Payment cards that are funded from an internal account.',
  Transactions:
    'Incoming, outgoing and card payments, with their status, and the approval of payments that ' +
    'wait for the platform.',
  Webhooks: 'Delivery of events to the endpoint of the platform, and a test of the endpoint.',
  Sandbox:
    'Simulation of payments, card messages and webhooks. Available with sandbox credentials ' +
    'only; no funds leave the platform.',
  Stablecoins:
    'Stablecoins that the platform issues through a provider: registration, minting, burning and ' +
    'the operations in progress.',
};
