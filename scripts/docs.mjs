// `npm run docs`: installs what the documentation site needs in site/ and builds it into site/dist, where the
// server finds it below /docs. `npm run docs -- --out FOLDER` writes a static export for any host.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeCollection } from './collection.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const site = path.join(root, 'site');
const docs = path.join(root, 'docs');

const say = (line) => process.stderr.write(`${line}\n`);

function run(program, args) {
  const { status, error } = spawnSync(program, args, { cwd: site, stdio: 'inherit' });
  if (error) say(error.message);
  if (status !== 0) process.exit(status ?? 1);
}

function isInstalled() {
  const lock = fs.readFileSync(path.join(site, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(lock);
  const there = path.join(site, 'node_modules', '.package-lock.json');
  if (!fs.existsSync(there)) return false;
  const installed = JSON.parse(fs.readFileSync(there, 'utf8')).packages;
  return Object.entries(packages).every(
    ([place, { version, optional }]) =>
      place === '' || optional || installed[place]?.version === version,
  );
}

function outFolder(argv) {
  const at = argv.indexOf('--out');
  if (at === -1) return path.join(site, 'dist');
  const folder = argv[at + 1];
  if (!folder) {
    say('--out needs a folder.');
    process.exit(2);
  }
  return path.resolve(folder);
}

/** Pages in the order of their paths, with title and first sentence. */
function pages() {
  return fs
    .readdirSync(docs, { recursive: true })
    .map((name) => String(name).replaceAll(path.sep, '/'))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => {
      const text = fs.readFileSync(path.join(docs, name), 'utf8');
      const [, title = name] = /^# (.*)$/m.exec(text) ?? [];
      const [, first = ''] = /^# .*\n\n([^#|`\n][\s\S]*?)(?:\n\n|$)/m.exec(text) ?? [];
      return { name, title, first: first.replaceAll('\n', ' '), text };
    });
}

/** `llms.txt` and `llms-full.txt`: an index, and everything but the decisions in one file. */
function writeTexts(folder) {
  const all = pages();
  const line = ({ name, title, first }) =>
    `- [${title}](/docs/${name.replace(/(?:index)?\.md$/, '')})${first && `: ${first}`}`;
  const head = '# Railhead\n\n> A payments platform that you run yourself, behind one HTTP API.\n';
  const index = [
    head,
    '## Documentation\n',
    ...all.map(line),
    '\n## API\n',
    '- [OpenAPI document](/openapi.json): all operations, webhooks, errors and examples\n',
  ];
  fs.writeFileSync(path.join(folder, 'llms.txt'), index.join('\n'));
  const full = all.filter(({ name }) => !name.startsWith('decisions/')).map(({ text }) => text);
  fs.writeFileSync(path.join(folder, 'llms-full.txt'), [head, ...full].join('\n\n'));
}

const out = outFolder(process.argv);
if (!isInstalled()) {
  say('Installing what the site needs …');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel', 'error']);
}
const pagesLink = path.join(site, 'pages');
if (!fs.existsSync(pagesLink)) fs.symlinkSync(path.join('..', 'docs'), pagesLink, 'junction');
run(process.execPath, [
  path.join(site, 'node_modules', 'vitepress', 'bin', 'vitepress.js'),
  'build',
  '.',
  '--outDir',
  out,
]);
writeTexts(out);
writeCollection(path.join(out, 'railhead.postman_collection.json'));
say(`The site is in ${out}.`);
