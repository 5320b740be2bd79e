// Writes docs/imports.md, the diagram of imports among layers and wings; with --check it verifies
// that the page is current. Imports of types are included; an upward arrow, and therefore any
// cycle, is an error.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { cruise } from 'dependency-cruiser';

const root = fileURLToPath(new URL('..', import.meta.url));
const file = `${root}docs/imports.md`;
const rules = createRequire(import.meta.url)('../.dependency-cruiser.cjs');

// The order of wings from the import rules.
const features = rules.forbidden.flatMap(
  ({ name }) => /^(\S+) imports only features before it$/.exec(name)?.[1] ?? [],
);
const wings = [...new Set(features.map((feature) => feature.split('/')[0]))];

// Parts from top to bottom; a file belongs to the first part with a matching path.
const PARTS = [
  { name: 'operator', path: /^operator(\.ts$|\/)/ },
  { name: 'composition', path: /^([^/]+\.ts|processes\/[^/]+\.ts|connectors\/registry\.ts)$/ },
  { name: 'http', path: /^http\// },
  ...wings.toReversed().map((wing) => ({
    name: wing,
    path: new RegExp(`^features/${wing}/`),
    group: 'features',
  })),
  { name: 'connectors', path: /^connectors\/(?!ports\/)/ },
  { name: 'ports', path: /^connectors\/ports\// },
  { name: 'runtime', path: /^runtime\// },
  { name: 'ledger', path: /^ledger\// },
  { name: 'catalog', path: /^catalog\// },
  { name: 'kernel', path: /^kernel\// },
];
const NAMES = PARTS.map(({ name }) => name);

const partOf = (path) => {
  const part = PARTS.find((part) => part.path.test(path));
  if (part === undefined) throw new Error(`server/src/${path} belongs to no part of this page`);
  return part.name;
};
const inSource = (path) => /^server\/src\/(.*\.ts)$/.exec(path)?.[1];

// Imports of each part, with one file as an example for each arrow.
const importsOf = async () => {
  const { output } = await cruise(
    ['server/src'],
    { baseDir: root, exclude: '\\.test\\.ts$|node_modules', tsPreCompilationDeps: true },
    { extensions: ['.ts'] },
  );
  const imports = new Map(NAMES.map((name) => [name, new Map()]));
  for (const { source, dependencies } of output.modules) {
    const from = inSource(source);
    if (from === undefined) continue;
    for (const { resolved } of dependencies) {
      const to = inSource(resolved);
      if (to === undefined || partOf(to) === partOf(from)) continue;
      imports.get(partOf(from)).set(partOf(to), `${from} imports ${to}`);
    }
  }
  return imports;
};

const upward = (imports) =>
  NAMES.flatMap((from, at) =>
    NAMES.slice(0, at).flatMap((to) => {
      const proof = imports.get(from).get(to);
      return proof === undefined ? [] : [`${from} may not import ${to}: ${proof}`];
    }),
  );

const directOf = (imports, from) => NAMES.filter((to) => imports.get(from).has(to));

// Omits an arrow if a longer path leads to the same part. Called only without upward arrows, so the
// recursion terminates.
const reaches = (imports, from, to) =>
  directOf(imports, from).some((via) => via === to || reaches(imports, via, to));
const directImportsOf = (imports, from) => {
  const direct = directOf(imports, from);
  return direct.filter((to) => !direct.some((via) => via !== to && reaches(imports, via, to)));
};

const drawing = (imports) => [
  '```mermaid',
  'flowchart TD',
  '  subgraph features',
  ...wings.toReversed().map((wing) => `    ${wing}`),
  '  end',
  ...NAMES.flatMap((from) => directImportsOf(imports, from).map((to) => `  ${from} --> ${to}`)),
  '```',
];

const table = (imports) => {
  const rows = [
    ['Part', 'Imports'],
    ...NAMES.map((from) => [`\`${from}\``, directOf(imports, from).join(', ') || 'nothing']),
  ];
  const [left, right] = [0, 1].map((column) => Math.max(...rows.map((row) => row[column].length)));
  const line = ([name, list]) => `| ${name.padEnd(left)} | ${list.padEnd(right)} |`;
  return [
    line(rows[0]),
    `| ${'-'.repeat(left)} | ${'-'.repeat(right)} |`,
    ...rows.slice(1).map(line),
  ];
};

const page = (imports) =>
  [
    '# Imports',
    '',
    'Made by `npm run imports:page` from the imports of `server/src`, those of types included and',
    'those of tests not; do not edit it. The boxes are the layers and, among the features, the ' +
      'wings.',
    '',
    'An arrow says that a file of one box imports a file of the other. It is left out where a ' +
      'longer',
    'way leads to the same box; the table has all of them. Every arrow points to a later line of ' +
      'the',
    'table, so there is no circle; the command fails otherwise. `npm run imports` holds single ' +
      'files',
    'to the finer rules of `.dependency-cruiser.cjs`.',
    '',
    ...drawing(imports),
    '',
    '`operator` is the command of the operator with its verbs. `composition` is the files directly',
    'in `server/src`, such as `compose.ts` and `features.ts`, with `connectors/registry.ts`. ' +
      '`ports`',
    'is `connectors/ports`, the only part of the connectors that features import.',
    '',
    ...table(imports),
    '',
  ].join('\n');

const imports = await importsOf();
const wrong = upward(imports);
if (wrong.length > 0) {
  console.error(wrong.join('\n'));
  process.exit(1);
}
const text = page(imports);
if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== text) {
    console.error('docs/imports.md is not what the files import. Run: npm run imports:page');
    process.exit(1);
  }
} else {
  writeFileSync(file, text);
  console.log(`${NAMES.length} layers and wings written to docs/imports.md`);
}
