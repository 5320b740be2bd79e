// The pages of the console, in the order of the menu, with the operation that each needs.
import type { OperationId } from '../generated/operations.ts';
import { TEXTS } from '../texts/texts.ts';

interface Page {
  path: string;
  title: string;
  /** Operation that the operator must be permitted to call. */
  needs: OperationId;
}

interface Group {
  title: string;
  pages: readonly Page[];
}

const { pages: P, groups: G } = TEXTS;

const page = (path: string, title: string, needs: OperationId): Page => ({ path, title, needs });

export const GROUPS: readonly Group[] = [
  {
    title: G.money,
    pages: [
      page('/', P.overview, 'listPayments'),
      page('/payments', P.payments, 'listPayments'),
      page('/quotes', P.quotes, 'listQuotesOfPlatforms'),
      page('/payouts', P.payouts, 'listAwaitedTransfers'),
      page('/deposits', P.deposits, 'listHeldDeposits'),
      page('/suspense', P.suspense, 'listSuspenseItems'),
      page('/card-payments', P.cardPayments, 'listCardDecisions'),
      page('/stablecoins', P.stablecoins, 'searchStablecoins'),
    ],
  },
  {
    title: G.people,
    pages: [
      page('/customers', P.customers, 'listCustomersOfPlatforms'),
      page('/verifications', P.verifications, 'listVerificationsForReview'),
      page('/external-accounts', P.externalAccounts, 'listExternalAccounts'),
      page('/resets', P.resets, 'listFactorResets'),
      page('/erasures', P.erasures, 'listErasures'),
      page('/messages', P.messages, 'listMessages'),
    ],
  },
  {
    title: G.accounts,
    pages: [
      page('/accounts', P.accounts, 'listAccounts'),
      page('/cards', P.cards, 'searchCards'),
      page('/wallets', P.wallets, 'listWalletRecoveries'),
      page('/agents', P.agents, 'searchAgents'),
      page('/ledger', P.ledger, 'listLedgerAccounts'),
    ],
  },
  {
    title: G.developers,
    pages: [
      page('/events', P.events, 'listEventsOfPlatforms'),
      page('/deliveries', P.deliveries, 'listDeliveriesOfPlatforms'),
      page('/endpoints', P.endpoints, 'listWebhookEndpointsOfPlatform'),
      page('/requests', P.requests, 'listRequestsOfPlatforms'),
      page('/keys', P.keys, 'listSigningKeys'),
      page('/tokens', P.tokens, 'listPlatformTokens'),
      page('/imports', P.imports, 'listImports'),
      page('/sandbox', P.sandbox, 'getPlatformClock'),
    ],
  },
  {
    title: G.office,
    pages: [
      page('/approvals', P.approvals, 'listApprovals'),
      page('/platforms', P.platforms, 'listPlatforms'),
      page('/jobs', P.jobs, 'listJobs'),
      page('/users', P.users, 'listOperatorUsers'),
      page('/sessions', P.sessions, 'listOperatorSessions'),
      page('/operator-tokens', P.operatorTokens, 'listOperatorTokens'),
      page('/policies', P.policies, 'listApprovalPolicies'),
      page('/audit', P.audit, 'listAuditRecords'),
      page('/system', P.system, 'getSystem'),
    ],
  },
];
