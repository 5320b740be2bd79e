// Who may import whom. Layers point downwards only; features import each other by index and in one order.
const FEATURES = [
  'platform',
  'tokens',
  'internal-accounts',
  'webhooks',
  'messages',
  'customers',
  'contacts',
  'documents',
  'verifications',
  'kyc-links',
  'imports',
  'invitations',
  'wallets',
  'credentials',
  'external-accounts',
  'sca',
  'ownership',
  'discovery',
  'receivers',
  'transactions',
  'incoming',
  'quotes',
  'transfers',
  'agents',
  'cards',
  'stablecoins',
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

module.exports = {
  forbidden: [
    {
      name: 'no cycles',
      severity: 'error',
      from: {},
      to: { circular: true, dependencyTypesNot: ['type-only'] },
    },
    layer('kernel', 'kernel/', 'kernel/'),
    layer('catalog', 'catalog/', 'catalog/|kernel/'),
    layer('runtime', 'runtime/', 'runtime/|kernel/'),
    layer('ledger', 'ledger/', 'ledger/|runtime/|kernel/'),
    layer('connectors', 'connectors/(?!registry)', 'connectors/|catalog/|kernel/'),
    layer('features', 'features/', 'features/|ledger/|runtime/|catalog/|kernel/|connectors/ports'),
    layer('http', 'http/', 'http/|runtime/|kernel/|catalog/(naming|event-types)'),
    {
      name: 'a connector knows no other connector',
      severity: 'error',
      from: { path: '^server/src/connectors/([^/]+)/' },
      to: { path: '^server/src/connectors/[^/]+/', pathNot: '^server/src/connectors/$1/' },
    },
    {
      name: 'another feature is imported by its index',
      severity: 'error',
      from: { path: '^server/src/features/([^/]+)/' },
      to: {
        path: '^server/src/features/[^/]+/',
        pathNot: '^server/src/features/($1/|[^/]+/index\\.ts$)',
      },
    },
    {
      name: 'only the composition knows the sandbox connector',
      severity: 'error',
      from: { pathNot: '^server/(src/(connectors/|compose|main|operator)|test/)|\\.test\\.ts$' },
      to: { path: '^server/src/connectors/sandbox/' },
    },
    ...order,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'] },
  },
};
