// Notes that the API reference adds to the description of an operation: permission, idempotency, events,
// errors, commands, sandbox values and guides. The notes follow from the contract, the tables of this file,
// and the tables of events and errors.
import { type Contract, idempotencyOf } from '../kernel/contract/operation.ts';
import type { Code } from '../kernel/fault.ts';
import type { Guide } from './error-guide.ts';
import { ownCodesOf } from './operation-errors.ts';
import { eventsOf } from './operation-events.ts';

const PERMISSIONS = {
  token: (permission: string) => `an API token with \`${permission}\``,
  agent: (permission: string) =>
    `an agent access token with \`${permission}\`, if the policy of the agent allows the operation`,
} as const;

function accessOf(contract: Contract): string {
  const { auth = 'token', permission, operatorPermission, sandboxOnly } = contract;
  if (operatorPermission) return `an operator with \`${operatorPermission}\``;
  if (!permission) return 'none. No credential is sent';
  const credential = PERMISSIONS[auth === 'agent' ? 'agent' : 'token'](permission);
  return sandboxOnly ? `${credential}. Sandbox platforms only` : credential;
}

function repetitionOf(contract: Contract): string {
  const { method, money, permission } = contract;
  const idempotency = idempotencyOf(contract);
  if (idempotency === 'none') {
    const isRead = method === 'GET' && permission !== 'MANAGE';
    if (isRead) return 'the operation only reads data';
    if (method === 'GET' || method === 'POST') {
      return 'every request is executed, and `Idempotency-Key` is ignored';
    }
    return 'repeating the request has no further effect';
  }
  const conflictCode = money ? 'DUPLICATE_PAY_REQUEST' : 'CONFLICT';
  const verb = idempotency === 'required' ? 'requires' : 'accepts';
  return (
    `${verb} \`Idempotency-Key\`. The same key and body return the first reply for seven days. ` +
    `Another body is rejected with \`${conflictCode}\``
  );
}

/** Pages of the documentation, by tag: guides, or other pages by their path. */
const GUIDES: Readonly<Record<string, readonly [title: string, page: string][]>> = {
  'API Tokens': [['First steps', '/start']],
  'Agent Management': [['Agents', 'agents']],
  'Agent Operations': [['Agents', 'agents']],
  'Available UMA Providers': [['Payouts', 'payouts']],
  Cards: [['Cards', 'cards']],
  'Contact Verification': [['Onboarding individuals', 'onboarding-individuals']],
  'Cross-Currency Transfers': [
    ['Payouts', 'payouts'],
    ['Funding', 'funding'],
  ],
  Customers: [
    ['Onboarding individuals', 'onboarding-individuals'],
    ['Onboarding businesses', 'onboarding-businesses'],
  ],
  Discoveries: [['Payouts', 'payouts']],
  Documents: [['Onboarding businesses', 'onboarding-businesses']],
  'Embedded Wallet Auth': [['Embedded wallets', 'embedded-wallets']],
  Events: [['Following events', 'events']],
  'Exchange Rates': [['Payouts', 'payouts']],
  'External Accounts': [
    ['Payouts', 'payouts'],
    ['Ownership of wallets', 'ownership'],
  ],
  'Internal Accounts': [['Funding', 'funding']],
  Invitations: [['Incoming payments', 'incoming']],
  'KYC/KYB Verifications': [
    ['Onboarding individuals', 'onboarding-individuals'],
    ['Onboarding businesses', 'onboarding-businesses'],
  ],
  'Platform Configuration': [
    ['First steps', '/start'],
    ['Webhooks', '/concepts/webhooks'],
  ],
  Requests: [['Explain a failed request', 'requests']],
  'Same-Currency Transfers': [['Funding', 'funding']],
  Sandbox: [['Sandbox', '/concepts/sandbox']],
  'Sandbox Fixtures': [['Fixtures', 'fixtures']],
  Stablecoins: [['Stablecoins', 'stablecoins']],
  'Sandbox Clock': [['A clock for tests', 'clock']],
  'Strong Customer Authentication': [['Strong authentication', 'sca']],
  Transactions: [
    ['Payouts', 'payouts'],
    ['Incoming payments', 'incoming'],
  ],
  VASPs: [['Ownership of wallets', 'ownership']],
  'Webhook deliveries': [['Replay missed events', 'deliveries']],
  'Webhook endpoints': [['Webhooks', '/concepts/webhooks']],
  Webhooks: [['Webhooks', '/concepts/webhooks']],
};

const PAYOUT =
  'last three characters of the account number of the destination: `002` fails, `003` ' +
  'completes after 6 minutes, `004` fails and is refunded, `005` is returned after 10 s, ' +
  '`007` remains in suspense';
const TRANSFER =
  'last three characters of the account number of the external account: `002`, `003` and `004` ' +
  'fail, `005` is returned after 30 s';
const NAME_CHECK =
  'last three characters of the account number: `102` name mismatch, `103` partial match, `104` ' +
  'reply after 5 s, `105` rejected, `106` and `107` no check of the name';
const VERIFICATION =
  'last three characters of the full name, of a registration number or of the family name of ' +
  'an owner: `001` remains in review, `002` is rejected, `003` leaves errors to resolve';
const REGISTRATION =
  'last three characters of the full name of an individual: `001` starts as PENDING, `002` as ' +
  'REJECTED, `003` as UNVERIFIED. Businesses start as UNVERIFIED';
const CREDIT_DESCRIPTOR =
  'last three characters of the merchant descriptor: `002` is declined with ' +
  '`INSUFFICIENT_FUNDS`, `003` with `CARD_PAUSED`';
const DEBIT_DESCRIPTOR =
  `${CREDIT_DESCRIPTOR}, \`005\` funding debit confirmed after 30 s, ` +
  '`006` funding debit fails';
const CODE = 'the code is `123456`';
const ADDRESSES = 'addresses such as `$success.usd@sandbox.uma.money`';
const FILE_NAME = 'a code such as `LOW_QUALITY` in the file name selects this error';

type SandboxNote = readonly [values: string, section: string];

const payout: SandboxNote = [PAYOUT, 'payouts-of-quotes'];
const transfer: SandboxNote = [TRANSFER, 'transfers-and-ach-debits'];
const nameCheck: SandboxNote = [NAME_CHECK, 'payouts-of-quotes'];
const code: SandboxNote = [CODE, 'identity-verifications'];
const creditDescriptor: SandboxNote = [CREDIT_DESCRIPTOR, 'cards'];
const debitDescriptor: SandboxNote = [DEBIT_DESCRIPTOR, 'cards'];

/** Values that decide an outcome in the sandbox, and the section of the page about them. */
const SANDBOX: Readonly<Record<string, SandboxNote>> = {
  agentCreateTransferIn: transfer,
  agentCreateTransferOut: transfer,
  agentExecuteQuote: payout,
  authorizeQuote: code,
  completeScaLogin: code,
  confirmBeneficiaryTrust: code,
  confirmBeneficiaryUntrust: code,
  confirmCustomerEmailVerification: code,
  confirmCustomerPhoneVerification: code,
  createCard: [
    'last three characters of `platformCardId`: `001` remains `PROCESSING`, `002` is ' +
      'rejected by the issuer, `003` rejects the funding source at creation, `004` at a change, ' +
      '`005` is active after 30 s',
    'cards',
  ],
  createCustomer: [REGISTRATION, 'identity-verifications'],
  createCustomerExternalAccount: nameCheck,
  createPlatformExternalAccount: nameCheck,
  createQuote: payout,
  createTransferIn: transfer,
  createTransferOut: transfer,
  createVerification: [VERIFICATION, 'identity-verifications'],
  executeQuote: payout,
  linkStablecoinProviderAccount: [
    'last three characters of `apiClientSecret`: `002` is rejected, `003` becomes `INVALID`, ' +
      '`004` `REVOKED`',
    'stablecoins',
  ],
  lookupUma: [ADDRESSES, 'uma-addresses'],
  registerStablecoin: [
    'last three characters of `providerTokenIdentifier`: `001` remains `PROVISIONING`, `002` ' +
      'is rejected, `003` fails, `005` is provisioned after 30 s',
    'stablecoins',
  ],
  replaceDocument: [FILE_NAME, 'identity-verifications'],
  sandboxReceive: [ADDRESSES, 'uma-addresses'],
  sandboxSimulateCardAuthorization: debitDescriptor,
  sandboxSimulateCardCreditAuthorization: creditDescriptor,
  sandboxSimulateCardCreditAuthorizationAdvice: creditDescriptor,
  sandboxSimulateCardFinancialAuthorization: debitDescriptor,
  sandboxSimulateCardFinancialCreditAuthorization: creditDescriptor,
  updateCardById: [
    'every new funding source is rejected if the `platformCardId` of the card ends in `004`',
    'cards',
  ],
  uploadDocument: [FILE_NAME, 'identity-verifications'],
};

function sandboxOf(operationId: string): string[] {
  const [values, section] = SANDBOX[operationId] ?? [];
  if (values === undefined) return [];
  return [`**Sandbox**: ${values} ([all values](/docs/concepts/sandbox#${section})).`];
}

const pathOf = (page: string) => (page.startsWith('/') ? page : `/guides/${page}`);

/** The entries of these tables, for the test that compares them with contracts and pages. */
export const NOTED = {
  operations: Object.keys(SANDBOX),
  sections: [...new Set(Object.values(SANDBOX).map(([, section]) => section))],
  tags: Object.keys(GUIDES),
  guides: [
    ...new Set(Object.values(GUIDES).flatMap((pages) => pages.map(([, page]) => pathOf(page)))),
  ],
};

// Listed in the description, because the search of the reference reads only descriptions of operations.
const ownCodes = (contract: Contract) =>
  ownCodesOf(contract)
    .map((code) => `\`${code}\``)
    .join(', ');

const commandsOf = (commands: readonly string[]) =>
  commands.map((each) => `\`railhead-server ${each}\``).join(', ');

/** The notes below the description of an operation, as Markdown. */
export function notesOf(contract: Contract): string {
  const guides = GUIDES[contract.tag] ?? [];
  const links = guides.map(([title, page]) => `[${title}](/docs${pathOf(page)})`);
  const events = eventsOf(contract.operationId).map((type) => `\`${type}\``);
  return [
    `**Access**: ${accessOf(contract)}.`,
    `**Idempotency**: ${repetitionOf(contract)}.`,
    ...(events.length ? [`**Events**: ${events.join(', ')}.`] : []),
    ...(ownCodesOf(contract).length ? [`**Errors**: ${ownCodes(contract)}.`] : []),
    ...(contract.commands?.length ? [`**Command**: ${commandsOf(contract.commands)}.`] : []),
    ...sandboxOf(contract.operationId),
    ...(links.length ? [`**Guides**: ${links.join(', ')}.`] : []),
  ].join('\n\n');
}

/** Section of the page of errors. */
const sectionOf = (code: Code) => `/docs/errors#${code.toLowerCase()}`;

/** Codes with their causes and remedies, as Markdown. */
export const codesText = (
  codes: readonly Code[],
  errorGuide: Readonly<Record<Code, Guide>>,
): string =>
  codes
    .map((code) => {
      const { cause, remedy } = errorGuide[code];
      return `- [\`${code}\`](${sectionOf(code)}): ${cause} ${remedy}`;
    })
    .join('\n');
