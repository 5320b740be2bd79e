// Edit dates of pages: the date of the last commit of the file from which the content of a page comes. For
// a generated page this is the contract of its operation or the source of the SDK. One call of git reads all
// dates. Without a repository, pages have no date.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { entries } from './operations/document.mjs';
import { ENTRIES } from './sdk-reference.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const FEATURES = 'server/src/features';
const SDK = 'packages/sdk';
const OPENAPI = 'openapi.json';
const OPERATOR_OPENAPI = 'operator-openapi.json';

const OPERATION_ID = /operation\(\{[^{}]*?operationId: '(\w+)'/g;
const DECLARATION = /^export (?:async )?(?:function|class|interface|type|const) (\w+)/gm;

/** The TypeScript files of a folder with their texts. Without tests and generated files. */
const sourcesIn = (folder) =>
  readdirSync(path.join(root, folder), { recursive: true })
    .map((name) => `${folder}/${String(name).replaceAll(path.sep, '/')}`)
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|\/generated\//.test(file))
    .sort()
    .map((file) => [file, readFileSync(path.join(root, file), 'utf8')]);

/** The files of all matches of a pattern, by the first group of the pattern. */
const filesBy = (sources, pattern) =>
  new Map(
    sources.flatMap(([file, text]) => [...text.matchAll(pattern)].map(([, name]) => [name, file])),
  );

/** The contract of each operation and webhook, by its ID. */
function readContracts() {
  const sources = sourcesIn(FEATURES);
  const webhooks = entries
    .filter(({ isWebhook }) => isWebhook)
    .map((entry) => [entry.id, sources.find(([, text]) => text.includes(`'${entry.path}'`))?.[0]]);
  return new Map([...filesBy(sources, OPERATION_ID), ...webhooks]);
}

/** The file from which the content of a page of the SDK comes. Types of the API have `openapi.json`. */
function sdkSourceOf(name, declarations) {
  const [, folder, page] = /^(?:(.*)\/)?(\w+)\.md$/.exec(name);
  if (page !== 'index') return declarations.get(page) ?? OPENAPI;
  return folder === undefined ? `${SDK}/README.md` : `${SDK}/${ENTRIES[folder]}`;
}

/** Returns a function from the path of a page, relative to the site, to its source. */
export function createSourceFinder() {
  const contracts = readContracts();
  const declarations = filesBy(sourcesIn(`${SDK}/src`), DECLARATION);
  return (page) => {
    const [, folder, name] = /^(operations|sdk)\/(.*)$/.exec(page) ?? [];
    if (folder === 'sdk') return sdkSourceOf(name, declarations);
    if (folder === undefined) return `docs/${page}`;
    if (name === 'operator.md') return OPERATOR_OPENAPI;
    return contracts.get(path.posix.basename(name, '.md')) ?? OPENAPI;
  };
}

/** Times in milliseconds by file, from lines of `git log` with `@seconds` before the files of a commit. */
export function timesIn(log) {
  const times = new Map();
  let time;
  for (const line of log.split('\n')) {
    if (line.startsWith('@')) time = Number(line.slice(1)) * 1_000;
    // The newest commit is first.
    else if (line && !times.has(line)) times.set(line, time);
  }
  return times;
}

function readTimes() {
  const args = ['log', '--format=@%at', '--name-only', '--'];
  const folders = ['docs', FEATURES, SDK, OPENAPI, OPERATOR_OPENAPI];
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28, stdio: 'pipe' };
  try {
    return timesIn(execFileSync('git', [...args, ...folders], options));
  } catch {
    return new Map();
  }
}

let source;
let times;

/** Time of the last edit of a page in milliseconds, or undefined. */
export function lastEditOf(page) {
  source ??= createSourceFinder();
  times ??= readTimes();
  return times.get(source(page));
}
