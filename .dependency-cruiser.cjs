// Who may import whom. Layers point downwards only; features stand in one order, wing after wing, and import
// each other by their index.
const FEATURES = [
  'tenancy/platform',
  'tenancy/config',
  'tenancy/administration',
  'tenancy/tokens',
  'balances/ledger-accounts',
  'balances/velocity-limits',
  'balances/internal-accounts',
  'notifications/webhooks',
  'notifications/messages',
  'customers/records',
  'customers/contacts',
  'customers/documents',
  'customers/verifications',
  'customers/hosted-verification',
  'customers/imports',
  'customers/invitations',
  'customers/privacy',
  'wallets/accounts',
  'wallets/credentials',
  'payees/external-accounts',
  'payees/ownership',
  'payees/discovery',
  'payees/receivers',
  'sca',
  'payments/card-payments',
  'payments/transactions',
  'payments/suspense',
  'payments/presentation',
  'payments/refunds',
  'payments/lifecycle',
  'payments/payouts',
  'payments/pay-ins',
  'payments/pricing',
  'payments/quotes',
  'payments/manual',
  'payments/transfers',
  'cards',
  'stablecoins',
  'agents',
  'accounting',
  'sandbox',
];
const layer = (name, from, to) => ({
  name: `${name} imports only what is below it`,
  severity: 'error',
  from: { path: `^server/src/${from}`, pathNot: '\\.test\\.ts$' },
  to: { path: '^server/src/', pathNot: `^server/src/(${to})` },
});
const order = FEATURES.map((feature, at) => ({
  name: `${feature} imports only features before it`,
  severity: 'error',
  from: { path: `^server/src/features/${feature}/`, pathNot: '\\.test\\.ts$' },
  to: {
    path: '^server/src/features/',
    pathNot: `^server/src/features/(${[feature, ...FEATURES.slice(0, at)].join('|')})/`,
  },
}));
const faces = FEATURES.map((feature) => ({
  name: `${feature} imports another feature by its index`,
  severity: 'error',
  // Tests look into tables, which no face exports.
  from: { path: `^server/src/features/${feature}/`, pathNot: '\\.test\\.ts$' },
  to: {
    path: '^server/src/features/',
    pathNot: `^server/src/features/(${feature}/|(${FEATURES.join('|')})/index\\.ts$)`,
  },
}));

module.exports = {
  forbidden: [
    {
      name: 'no cycles',
      severity: 'error',
      from: {},
      to: { circular: true, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no cycles of types in the bench',
      severity: 'error',
      from: { path: '^bench/src/' },
      to: { circular: true },
    },
    layer('kernel', 'kernel/', 'kernel/'),
    layer('catalog', 'catalog/', 'catalog/|kernel/'),
    layer('ledger', 'ledger/', 'ledger/|kernel/'),
    layer('runtime', 'runtime/', 'runtime/|ledger/|kernel/'),
    layer('connectors', 'connectors/(?!registry)', 'connectors/|catalog/|kernel/'),
    layer('features', 'features/', 'features/|ledger/|runtime/|catalog/|kernel/|connectors/ports/'),
    layer('http', 'http/', 'http/|runtime/|kernel/|catalog/naming'),
    {
      name: 'a connector knows no other connector',
      severity: 'error',
      from: { path: '^server/src/connectors/([^/]+)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^server/src/connectors/[^/]+/', pathNot: '^server/src/connectors/($1|ports)/' },
    },
    {
      name: 'only the composition knows the sandbox connector',
      severity: 'error',
      from: { pathNot: '^server/(src/(connectors/|compose|main|operator)|test/)|\\.test\\.ts$' },
      to: { path: '^server/src/connectors/sandbox/' },
    },
    ...order,
    ...faces,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'] },
  },
};
