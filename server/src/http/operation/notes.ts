// Notes that the API reference adds to the description of an operation: permission, idempotency, events,
// errors, commands, sandbox values and guides. The notes follow from the contract, the tables of this file,
// and the tables of events and errors.
import { type Contract, idempotencyOf } from '../../kernel/contract/operation.ts';
import type { Code } from '../../kernel/fault.ts';
import type { Guide } from '../error-guide.ts';
import { ownCodesOf } from './errors.ts';
import { eventsOf, laterWebhooksOf } from './events.ts';
import { guidesOf, guidesOfWebhook } from './guides.ts';

const PERMISSIONS = {
  token: (permission: string) => `an API token with \`${permission}\``,
  agent: (permission: string) => `an agent access token with \`${permission}\``,
} as const;

function accessOf(contract: Contract): string {
  const { auth = 'token', permission, operatorPermission, sandboxOnly, errors } = contract;
  if (operatorPermission) return `an operator with \`${operatorPermission}\``;
  if (!permission) return 'public. The request requires no token and no session';
  const credential = PERMISSIONS[auth === 'agent' ? 'agent' : 'token'](permission);
  if (auth === 'agent' && errors.includes('FORBIDDEN')) {
    return `${credential}, if the policy of the agent allows the operation`;
  }
  return sandboxOnly ? `${credential}. Sandbox platforms only` : credential;
}

/** Operations with the method GET that can change data, although they only require VIEW. */
const UPDATING_READS: ReadonlySet<string> = new Set(['getTwoFactorResetStatus']);

function repetitionOf(contract: Contract): string {
  const { method, money, operationId, permission } = contract;
  const idempotency = idempotencyOf(contract);
  if (idempotency === 'none') {
    const isRead = method === 'GET' && permission !== 'MANAGE' && !UPDATING_READS.has(operationId);
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

const PAYOUT =
  'the last three characters of the account number of the destination select the outcome. ' +
  '`002` fails, `003` completes after 6 minutes, `004` fails and is refunded, `005` is ' +
  'returned after 10 s, `007` remains in suspense';
const TRANSFER =
  'the last three characters of the account number of the external account select the outcome. ' +
  '`002`, `003` and `004` fail, `005` fails after 30 s';
const NAME_CHECK =
  'the last three characters of the account number select the outcome. `102` is a name ' +
  'mismatch, `103` is a partial match, `104` responds after 5 s, `105` is rejected, `106` and ' +
  '`107` skip the check';
const VERIFICATION =
  'the last three characters select the outcome. Full name of an individual: `001` remains in ' +
  'review, `002` is rejected, `003` leaves errors to resolve. Registration number of a business: ' +
  '`001` and `003` remain in review, `002` is rejected. Family name of a beneficial owner: `001` ' +
  'remains pending, `002` is rejected';
const REGISTRATION =
  'if the platform verifies its customers itself or does not require documents, the last three ' +
  'characters of the full name of an individual select the status: `001` PENDING, `002` REJECTED, ' +
  '`003` UNVERIFIED, others APPROVED. All other customers start as UNVERIFIED';
const CREDIT_DESCRIPTOR =
  'the last three characters of the merchant descriptor select the outcome. `002` is declined ' +
  'with `INSUFFICIENT_FUNDS`, `003` is declined with `CARD_PAUSED`';
const DEBIT_DESCRIPTOR =
  `${CREDIT_DESCRIPTOR}, \`005\` confirms the funding debit after 30 s, ` +
  'and the funding debit of `006` fails';
const CODE = 'the code is `123456`';
const APP_CODE = 'the code `123456` of an authenticator app is accepted';
const ADDRESSES = 'use addresses such as `$success.usd@sandbox.uma.money`';
const FILE_NAME =
  'a code such as `LOW_QUALITY` at the end of the file name, before the extension, selects this ' +
  'error';

const OWNER_NAME =
  'the last three characters of the family name select the result of the verification. `001` ' +
  'remains pending, `002` is rejected';
const LIVENESS =
  'a check by `LIVENESS` completes after five seconds. It fails for an address that ends in `002`';

type SandboxNote = readonly [values: string, section: string];

const payout: SandboxNote = [PAYOUT, 'payouts-of-quotes'];
const transfer: SandboxNote = [TRANSFER, 'transfers-and-ach-debits'];
const nameCheck: SandboxNote = [NAME_CHECK, 'payouts-of-quotes'];
const code: SandboxNote = [CODE, 'identity-verifications'];
const appCode: SandboxNote = [APP_CODE, 'identity-verifications'];
const ownerName: SandboxNote = [OWNER_NAME, 'identity-verifications'];
const liveness: SandboxNote = [LIVENESS, 'ownership-of-wallets'];
const creditDescriptor: SandboxNote = [CREDIT_DESCRIPTOR, 'cards'];
const debitDescriptor: SandboxNote = [DEBIT_DESCRIPTOR, 'cards'];

/** Values that decide an outcome in the sandbox, and the section of the page about them. */
const SANDBOX: Readonly<Record<string, SandboxNote>> = {
  agentCreateExternalAccount: nameCheck,
  agentCreateQuote: payout,
  agentCreateTransferIn: transfer,
  agentCreateTransferOut: transfer,
  agentExecuteQuote: payout,
  authorizeQuote: code,
  completeScaLogin: code,
  confirmBeneficiaryTrust: code,
  confirmBeneficiaryUntrust: code,
  confirmCustomerEmailVerification: code,
  confirmCustomerPhoneVerification: code,
  confirmScaFactorEnrollment: appCode,
  createBeneficialOwner: ownerName,
  createCard: [
    'the last three characters of `platformCardId` select the outcome. `001` remains ' +
      '`PROCESSING`, `002` is rejected by the issuer, `003` rejects the funding source at ' +
      'creation, `004` rejects a changed funding source. A card with `005` is active after 30 s',
    'cards',
  ],
  createCustomer: [REGISTRATION, 'identity-verifications'],
  createCustomerExternalAccount: nameCheck,
  createExternalAccountOwnershipChallenge: liveness,
  createPlatformExternalAccount: nameCheck,
  createPlatformExternalAccountOwnershipChallenge: liveness,
  createQuote: payout,
  createStablecoinBurn: [
    'the last three characters of `description` select the outcome. `003` and `004` fail, `005` ' +
      'completes after 30 s',
    'stablecoins',
  ],
  createStablecoinMint: [
    'the last three characters of `description` select the outcome. `001` is never paid, `003` ' +
      'and `004` fail, `005` completes after 30 s',
    'stablecoins',
  ],
  createTransferIn: transfer,
  createTransferOut: transfer,
  createVerification: [VERIFICATION, 'identity-verifications'],
  executeQuote: payout,
  linkStablecoinProviderAccount: [
    'the last three characters of `apiClientSecret` select the outcome. `002`: the ' +
      'credentials are rejected. `003`: the account is valid at first and later `INVALID`. `004`: ' +
      'the account is valid at first and later `REVOKED`',
    'stablecoins',
  ],
  lookupUma: [ADDRESSES, 'uma-addresses'],
  registerStablecoin: [
    'the last three characters of `providerTokenIdentifier` select the outcome. `001` remains ' +
      '`PROVISIONING`, `002` is rejected, `003` fails, `005` is provisioned after 30 s',
    'stablecoins',
  ],
  replaceDocument: [FILE_NAME, 'identity-verifications'],
  sandboxReceive: [ADDRESSES, 'uma-addresses'],
  sandboxSimulateCardAuthorization: debitDescriptor,
  sandboxSimulateCardCreditAuthorization: creditDescriptor,
  sandboxSimulateCardCreditAuthorizationAdvice: creditDescriptor,
  sandboxSimulateCardFinancialAuthorization: debitDescriptor,
  sandboxSimulateCardFinancialCreditAuthorization: creditDescriptor,
  updateBeneficialOwner: ownerName,
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

/** The entries of these tables, for the test that compares them with contracts and pages. */
export const NOTE_TABLES = {
  operations: Object.keys(SANDBOX),
  sections: [...new Set(Object.values(SANDBOX).map(([, section]) => section))],
};

// Listed in the description, because the search of the reference reads only descriptions of operations.
const ownCodes = (contract: Contract) =>
  ownCodesOf(contract)
    .map((code) => `\`${code}\``)
    .join(', ');

const commandsOf = (commands: readonly string[]) =>
  commands.map((each) => `\`railhead-server ${each}\``).join(', ');

/** Events in the commit of the request, and webhooks of later steps. */
function eventsNoteOf(operationId: string): string[] {
  const events = eventsOf(operationId).map((type) => `\`${type}\``);
  const webhooks = laterWebhooksOf(operationId).map((name) => `[${name}](/docs/webhooks#${name})`);
  const sentences = [
    ...(events.length ? [`${events.join(', ')}.`] : []),
    ...(webhooks.length ? [`Later steps can emit the events of ${webhooks.join(', ')}.`] : []),
  ];
  return sentences.length ? [`**Events**: ${sentences.join(' ')}`] : [];
}

function guidesNoteOf(guides: ReturnType<typeof guidesOf>): string[] {
  const links = guides.map(({ title, address }) => `[${title}](/docs${address})`);
  return links.length ? [`**Guides**: ${links.join(', ')}.`] : [];
}

/** The notes below the description of a webhook, as Markdown. */
export const webhookNotesOf = (name: string): string =>
  guidesNoteOf(guidesOfWebhook(name)).join('');

/** The notes below the description of an operation, as Markdown. */
export function notesOf(contract: Contract): string {
  return [
    `**Access**: ${accessOf(contract)}.`,
    `**Idempotency**: ${repetitionOf(contract)}.`,
    ...eventsNoteOf(contract.operationId),
    ...(ownCodesOf(contract).length ? [`**Errors**: ${ownCodes(contract)}.`] : []),
    ...(contract.commands?.length ? [`**Command**: ${commandsOf(contract.commands)}.`] : []),
    ...sandboxOf(contract.operationId),
    ...guidesNoteOf(guidesOf(contract)),
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
