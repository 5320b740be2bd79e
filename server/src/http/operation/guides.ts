// Guides that the notes of an operation link to: sections that show the operation, or the pages of its
// tag. The APIs of platforms and operators share names of tags, so each has its own table.
import type { Contract } from '../../kernel/contract/operation.ts';
import { SECTIONS } from './guide-sections.ts';

/** Title, and the name of a guide or the path of another page. A section follows `#`. */
type Page = readonly [title: string, page: string];

/** Tag, or name of a webhook → pages. */
type Guides = Readonly<Record<string, readonly Page[]>>;

/** For the operations of platforms. `SECTIONS` replaces these pages. */
export const GUIDES: Guides = {
  'API Tokens': [['API tokens', 'tokens']],
  'Agent Management': [['Agents', 'agents']],
  'Agent Operations': [['Agents', 'agents']],
  'Available UMA Providers': [['Pay a UMA address', 'payouts#pay-a-uma-address']],
  Cards: [['Cards', 'cards']],
  'Contact Verification': [
    ['Verify e-mail and phone', 'onboarding-individuals#in-europe-verify-e-mail-and-phone-first'],
  ],
  'Cross-Currency Transfers': [['Payouts', 'payouts']],
  Customers: [['Onboarding individuals', 'onboarding-individuals']],
  Discoveries: [['Register a bank account', 'payouts#register-a-bank-account']],
  Documents: [['Onboarding individuals', 'onboarding-individuals']],
  'Embedded Wallet Auth': [['Embedded wallets', 'embedded-wallets']],
  Events: [['Following events', 'events']],
  'Exchange Rates': [['Pay out to Mexico', 'payouts#pay-out-to-mexico-mxn-clabe-spei']],
  'External Accounts': [['Register a bank account', 'payouts#register-a-bank-account']],
  'Internal Accounts': [
    ['Payment instructions of an account', 'funding#payment-instructions-of-an-account'],
  ],
  Invitations: [['Invitations', 'incoming#invitations']],
  'KYC/KYB Verifications': [['Onboarding individuals', 'onboarding-individuals']],
  'Platform Configuration': [
    ['Receive webhooks', 'payouts#receive-webhooks'],
    ['Webhooks', '/concepts/webhooks'],
  ],
  Requests: [['Explain a failed request', 'requests']],
  'Same-Currency Transfers': [['Payouts', 'payouts']],
  Sandbox: [['Sandbox', '/concepts/sandbox']],
  'Sandbox Fixtures': [['Fixtures', 'fixtures']],
  Stablecoins: [['Stablecoins', 'stablecoins']],
  'Sandbox Clock': [['A clock for tests', 'clock#freeze-the-clock']],
  'Strong Customer Authentication': [['Strong authentication', 'sca']],
  Transactions: [['Payouts', 'payouts']],
  VASPs: [['Accounts that need no proof', 'ownership#accounts-that-need-no-proof']],
  'Webhook Deliveries': [['Replay missed events', 'deliveries']],
  'Webhook Endpoints': [['More endpoints', '/concepts/webhooks#more-endpoints']],
  Webhooks: [
    ['Verify a signature', '/concepts/webhooks#verify-a-signature'],
    ['Receive webhooks', 'payouts#receive-webhooks'],
  ],
};

/** For webhooks, by name. Each webhook also links to the page about webhooks. */
export const WEBHOOK_GUIDES: Guides = {
  'customer-update': [['Complete the customer', 'onboarding-individuals#complete-the-customer']],
  'bulk-upload': [['Import a CSV file', 'onboarding-individuals#import-a-csv-file']],
  'verification-update': [
    ['Complete the customer', 'onboarding-individuals#complete-the-customer'],
  ],
  'invitation-claimed': [['Invitations', 'incoming#invitations']],
  'internal-account-status': [
    ['Payment instructions of an account', 'funding#payment-instructions-of-an-account'],
  ],
  'external-account-status': [['Verify by signature', 'ownership#verify-by-signature']],
  'agent-action': [['Receive approval requests', 'agents#receive-approval-requests']],
  'card-state-change': [['Issue a card', 'cards#issue-a-card']],
  'card-funding-source-change': [['Issue a card', 'cards#issue-a-card']],
  'card-transaction': [['Issue a card', 'cards#issue-a-card']],
  'outgoing-payment': [['Failures and returns', 'payouts#failures-and-returns']],
  'incoming-payment': [
    ['Deposits', 'incoming#deposits'],
    ['Approve incoming payments', 'incoming#a-webhook-receiver'],
  ],
  'test-webhook': [['Verify a signature', '/concepts/webhooks#verify-a-signature']],
  'webhook-endpoint': [['More endpoints', '/concepts/webhooks#more-endpoints']],
};

const WEBHOOKS: Page = ['Webhooks', '/concepts/webhooks'];

/** For the operations of operators. */
export const OPERATOR_GUIDES: Guides = {
  'Sign-In': [
    ['Add people', 'operators#add-people'],
    ['Sign in with a company account', 'operators#sign-in-with-a-company-account'],
  ],
  Session: [['Add people', 'operators#add-people']],
  Users: [
    ['Add people', 'operators#add-people'],
    ['Console: people and audit', 'console#administrators-people-and-audit'],
  ],
  Operators: [
    ['Create the first operators', 'operators#create-the-first-operators'],
    ['Restrict access to the API', 'operators#restrict-access-to-the-api'],
  ],
  Approvals: [['Require a second person', 'operators#require-a-second-person']],
  Audit: [['Verify the audit records', 'operators#verify-the-audit-records']],
  Search: [
    ['Find payments and customers', 'operators#find-payments-and-customers'],
    ['Search in the console', 'console#search'],
  ],
  Metrics: [['Find payments and customers', 'operators#find-payments-and-customers']],
  Changes: [
    ['Following events', 'events'],
    ['Changes', '/architecture/operator-api#changes'],
  ],
  System: [
    ['Check the installation', 'operating#check-the-installation'],
    ['Retention and archives', '/retention'],
    ['Backups', 'backup'],
  ],
  Payments: [
    ['Find payments and customers', 'operators#find-payments-and-customers'],
    ['Find the cause of a failed payout', 'console#support-find-the-cause-of-a-failed-payout'],
  ],
  Platforms: [
    ['Create a production platform', 'operating#create-a-production-platform'],
    ['Freezing accounts, and limits', 'operating#freezing-accounts-and-limits'],
  ],
  Sandbox: [
    ['A clock for tests', 'clock'],
    ['Fixtures', 'fixtures'],
  ],
  'API Tokens': [
    ['Create a production platform', 'operating#create-a-production-platform'],
    ['First steps', '/start'],
  ],
  'Signing Keys': [['Rotate a webhook key', 'webhook-keys#the-key-of-the-service']],
  Webhooks: [
    ['Replay missed events', 'deliveries'],
    ['Following events', 'events'],
    ['Webhooks', '/concepts/webhooks'],
  ],
  Requests: [['Explain a failed request', 'requests']],
  Jobs: [
    ['Dead jobs', 'operating#dead-jobs'],
    ['Jobs', '/jobs'],
  ],
  Messages: [
    ['Verify e-mail and phone', 'onboarding-individuals#in-europe-verify-e-mail-and-phone-first'],
    ['States of a message', '/states#message'],
  ],
  Imports: [
    ['Import a CSV file', 'onboarding-individuals#import-a-csv-file'],
    ['States of an import', '/states#import-of-customers'],
  ],
  Documents: [
    ['Identity checks', 'operating#identity-checks'],
    ['Upload documents', 'onboarding-businesses#upload-documents'],
  ],
  Deposits: [
    ['Deposits', 'operating#deposits'],
    ['Incoming payments', 'incoming#deposits'],
  ],
  Payouts: [
    ['Manual payouts', 'operating#payouts'],
    ['Request the return of a payout', 'providers#request-the-return-of-a-payout'],
    ['Failures and returns', 'payouts#failures-and-returns'],
  ],
  Providers: [
    ['Connect a bank or processor', 'providers'],
    ['Route transfers to providers', 'provider-routing'],
  ],
  Reconciliation: [['Reconcile with a provider', 'reconciliation']],
  Suspense: [['Funds in suspense', 'operating#funds-in-suspense']],
  Accounts: [
    ['Freezing accounts, and limits', 'operating#freezing-accounts-and-limits'],
    ['Funding', 'funding'],
  ],
  Ledger: [
    ['Reconciliation', 'operating#reconciliation'],
    ['Payouts and suspense in the console', 'console#treasury-payouts-and-suspense'],
  ],
  Exports: [['Reconciliation', 'operating#reconciliation']],
  Stablecoins: [["The operator's view of stablecoins", 'stablecoins#the-operators-view']],
  Verifications: [
    ['Identity checks', 'operating#identity-checks'],
    ['Review of a business', 'onboarding-businesses#review'],
  ],
  'Strong Customer Authentication': [
    ["The operator's view of authentication", 'sca#the-operators-view'],
    ['Strong authentication', 'operating#strong-authentication'],
  ],
  Customers: [
    ['Find payments and customers', 'operators#find-payments-and-customers'],
    ['Data subject requests', 'onboarding-individuals#data-subject-requests'],
  ],
  Cards: [
    ['Cards in production', 'operating#cards'],
    ['Exceptions of cards', 'cards#exceptions'],
  ],
  'External Accounts': [
    ['Freezing accounts, and limits', 'operating#freezing-accounts-and-limits'],
    ['Ownership of wallets', 'ownership'],
  ],
  Agents: [
    ["The operator's view of agents", 'agents#the-operators-view'],
    ['Agents in production', 'operating#agents'],
  ],
  'Embedded Wallets': [
    ['Wallets of users', 'operating#wallets-of-users'],
    ['Embedded wallets', 'embedded-wallets'],
  ],
};

/** The address of a page below the documentation. */
export const addressOf = (page: string) => (page.startsWith('/') ? page : `/guides/${page}`);

const linked = (pages: readonly Page[]): { title: string; address: string }[] =>
  pages.map(([title, page]) => ({ title, address: addressOf(page) }));

/** The sections that show an operation of a platform. */
const sectionsOf = (operationId: string): Page[] =>
  Object.entries(SECTIONS).flatMap(([page, [title, ...operationIds]]) =>
    operationIds.includes(operationId) ? [[title, page] as const] : [],
  );

/** Titles and addresses of the pages about an operation. */
export function guidesOf({ auth, tag, operationId }: Contract) {
  if (auth === 'operator' || auth === 'signIn') return linked(OPERATOR_GUIDES[tag] ?? []);
  const sections = sectionsOf(operationId);
  return linked(sections.length ? sections : (GUIDES[tag] ?? []));
}

/** Titles and addresses of the pages about a webhook. */
export const guidesOfWebhook = (name: string) =>
  linked([...(WEBHOOK_GUIDES[name] ?? []), WEBHOOKS]);
