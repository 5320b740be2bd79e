// The routes of the console. The code of a page is loaded when the page is first opened, or when a
// link to it is hovered over or focused.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { EmptyState, Problem } from './parts/feedback.tsx';
import { Screen } from './parts/panel.tsx';
import { Shell } from './shell/shell.tsx';
import { TEXTS } from './texts/texts.ts';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => (
    <Screen title={TEXTS.notFoundTitle}>
      <EmptyState>{TEXTS.notFound}</EmptyState>
    </Screen>
  ),
  errorComponent: ({ error, reset }) => <Problem error={error} retry={reset} />,
});

const textsOf = (search: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(search).map(([name, value]) => [name, String(value)]));

type Module = () => Promise<Record<string, unknown>>;

const page = (path: string, load: Module, name: string) =>
  createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: textsOf,
    component: lazyRouteComponent(load as never, name as never),
  });

const overview = () => import('./screens/money/overview.tsx');
const payments = () => import('./screens/money/payments.tsx');
const payment = () => import('./screens/money/payment.tsx');
const queues = () => import('./screens/money/queues.tsx');
const stablecoin = () => import('./screens/money/stablecoin.tsx');
const people = () => import('./screens/people/lists.tsx');
const customer = () => import('./screens/people/customer.tsx');
const verification = () => import('./screens/people/verification.tsx');
const wallets = () => import('./screens/accounts/wallets.tsx');
const accounts = () => import('./screens/accounts/accounts.tsx');
const ledger = () => import('./screens/accounts/ledger.tsx');
const providers = () => import('./screens/providers/providers.tsx');
const provider = () => import('./screens/providers/provider.tsx');
const providerRoutes = () => import('./screens/providers/routes.tsx');
const providerChoice = () => import('./screens/providers/choice.tsx');
const providerFile = () => import('./screens/providers/provider-file.tsx');
const reconciliation = () => import('./screens/providers/reconciliation.tsx');
const developers = () => import('./screens/developers/webhooks.tsx');
const platform = () => import('./screens/developers/platform.tsx');
const approvals = () => import('./screens/administration/approvals.tsx');
const administration = () => import('./screens/administration/administration.tsx');

const routeTree = root.addChildren([
  page('/', overview, 'Overview'),
  page('/payments', payments, 'Payments'),
  page('/payments/$id', payment, 'Payment'),
  page('/quotes', payments, 'Quotes'),
  page('/payouts', queues, 'Payouts'),
  page('/deposits', queues, 'Deposits'),
  page('/suspense', queues, 'Suspense'),
  page('/card-payments', queues, 'CardPayments'),
  page('/stablecoins', queues, 'Stablecoins'),
  page('/stablecoins/$id', stablecoin, 'StablecoinScreen'),
  page('/customers', people, 'Customers'),
  page('/customers/$id', customer, 'Customer'),
  page('/verifications', people, 'Verifications'),
  page('/verifications/$id', verification, 'Verification'),
  page('/external-accounts', people, 'ExternalAccounts'),
  page('/external-accounts/$id', accounts, 'ExternalAccount'),
  page('/resets', people, 'Resets'),
  page('/erasures', people, 'Erasures'),
  page('/messages', people, 'Messages'),
  page('/accounts', accounts, 'Accounts'),
  page('/accounts/$id', accounts, 'Account'),
  page('/cards', accounts, 'Cards'),
  page('/cards/$id', accounts, 'Card'),
  page('/wallets', wallets, 'Wallets'),
  page('/wallets/$id', wallets, 'Wallet'),
  page('/agents', accounts, 'Agents'),
  page('/agents/$id', accounts, 'Agent'),
  page('/ledger', ledger, 'Ledger'),
  page('/ledger/$id', ledger, 'LedgerAccount'),
  page('/providers', providers, 'Providers'),
  page('/providers/$id', provider, 'Provider'),
  page('/provider-routes', providerRoutes, 'Routes'),
  page('/provider-choice', providerChoice, 'ProviderChoice'),
  page('/provider-messages', providers, 'ProviderMessages'),
  page('/provider-file', providerFile, 'ProviderFile'),
  page('/differences', reconciliation, 'Differences'),
  page('/differences/$id', reconciliation, 'Difference'),
  page('/events', developers, 'Events'),
  page('/events/$id', developers, 'Event'),
  page('/deliveries', developers, 'Deliveries'),
  page('/endpoints', platform, 'Endpoints'),
  page('/sandbox', platform, 'Sandbox'),
  page('/system', platform, 'System'),
  page('/requests', developers, 'Requests'),
  page('/requests/$id', developers, 'Request'),
  page('/keys', developers, 'Keys'),
  page('/tokens', developers, 'Tokens'),
  page('/imports', developers, 'Imports'),
  page('/imports/$id', developers, 'Import'),
  page('/jobs', developers, 'Jobs'),
  page('/jobs/$id', developers, 'JobScreen'),
  page('/approvals', approvals, 'Approvals'),
  page('/approvals/$id', approvals, 'Approval'),
  page('/policies', administration, 'Policies'),
  page('/platforms', administration, 'Platforms'),
  page('/platforms/$id', administration, 'Platform'),
  page('/users', administration, 'Users'),
  page('/sessions', administration, 'Sessions'),
  page('/operator-tokens', administration, 'OperatorTokens'),
  page('/audit', administration, 'Audit'),
  page('/audit/$id', administration, 'AuditChanges'),
]);

export const router = createRouter({
  routeTree,
  basepath: '/console',
  defaultPreload: 'intent',
  // Errors are shown inside the frame, so that the menu remains.
  defaultErrorComponent: ({ error, reset }) => <Problem error={error} retry={reset} />,
  scrollRestoration: false,
  // Search parameters are plain strings, so that the URL contains a filter as it was entered.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(
      Object.entries(search)
        .filter(([, value]) => value !== undefined && value !== '')
        .map(([name, value]) => [name, String(value)]),
    ).toString();
    return text ? `?${text}` : '';
  },
});
