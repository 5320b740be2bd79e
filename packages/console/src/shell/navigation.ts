// The pages of the console, in the order of the menu, each with the operation that it requires.
import type { OperationId } from '../generated/operations.ts';
import { TEXTS } from '../texts/texts.ts';

interface Page {
  path: string;
  title: string;
  /** Operation that the operator must be permitted to call. */
  operationId: OperationId;
}

interface Group {
  /** If absent, the group cannot be collapsed. */
  title?: string;
  pages: readonly Page[];
}

const { pages: P, groups: G } = TEXTS;

const page = (path: string, title: string, operationId: OperationId): Page => ({
  path,
  title,
  operationId,
});

export const GROUPS: readonly Group[] = [
  { pages: [page('/', P.overview, 'listPayments')] },
  {
    title: G.work,
    pages: [
      page('/approvals', P.approvals, 'listApprovals'),
      page('/payouts', P.payouts, 'listAwaitedTransfers'),
      page('/deposits', P.deposits, 'listHeldDeposits'),
      page('/suspense', P.suspense, 'listSuspenseItems'),
      page('/verifications', P.verifications, 'listVerificationsForReview'),
      page('/external-accounts', P.externalAccounts, 'listExternalAccounts'),
      page('/resets', P.resets, 'listFactorResets'),
    ],
  },
  {
    title: G.money,
    pages: [
      page('/payments', P.payments, 'listPayments'),
      page('/quotes', P.quotes, 'listQuotesOfPlatforms'),
      page('/card-payments', P.cardPayments, 'listCardDecisions'),
      page('/stablecoins', P.stablecoins, 'searchStablecoins'),
      page('/ledger', P.ledger, 'listLedgerAccounts'),
    ],
  },
  {
    title: G.people,
    pages: [
      page('/customers', P.customers, 'listCustomersOfPlatforms'),
      page('/accounts', P.accounts, 'listAccounts'),
      page('/cards', P.cards, 'searchCards'),
      page('/wallets', P.wallets, 'searchWallets'),
      page('/agents', P.agents, 'searchAgents'),
      page('/messages', P.messages, 'listMessages'),
      page('/erasures', P.erasures, 'listErasures'),
    ],
  },
  {
    title: G.providers,
    pages: [
      page('/providers', P.providers, 'listProviders'),
      page('/provider-routes', P.providerRoutes, 'listProviderRoutes'),
      page('/provider-choice', P.providerChoice, 'explainProviderRoute'),
      page('/provider-messages', P.providerMessages, 'listProviderMessages'),
      page('/differences', P.reconciliation, 'listDifferences'),
      page('/provider-file', P.providerFile, 'exportProviders'),
    ],
  },
  {
    title: G.developers,
    pages: [
      page('/deliveries', P.deliveries, 'listDeliveriesOfPlatforms'),
      page('/endpoints', P.endpoints, 'listWebhookEndpointsOfPlatform'),
      page('/events', P.events, 'listEventsOfPlatforms'),
      page('/requests', P.requests, 'listRequestsOfPlatforms'),
      page('/tokens', P.tokens, 'listPlatformTokens'),
      page('/keys', P.keys, 'listSigningKeys'),
      page('/imports', P.imports, 'listImports'),
      page('/sandbox', P.sandbox, 'getPlatformClock'),
    ],
  },
  {
    title: G.administration,
    pages: [
      page('/platforms', P.platforms, 'listPlatforms'),
      page('/users', P.users, 'listOperatorUsers'),
      page('/sessions', P.sessions, 'listOperatorSessions'),
      page('/operator-tokens', P.operatorTokens, 'listOperatorTokens'),
      page('/policies', P.policies, 'listApprovalPolicies'),
      page('/audit', P.audit, 'listAuditRecords'),
    ],
  },
  {
    title: G.system,
    pages: [page('/jobs', P.jobs, 'listJobs'), page('/system', P.system, 'getSystem')],
  },
];

/** Whether a path is a page or a resource of it. */
export const isWithin = (path: string, page: string): boolean =>
  path === page || (page !== '/' && path.startsWith(`${page}/`));
