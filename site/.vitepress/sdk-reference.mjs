// The reference of the TypeScript SDK, made by TypeDoc from the comments of packages/sdk: a page for each
// function, class, interface and type of each entry. Types of the API itself are on the pages of operations.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { entries } from './operations/document.mjs';

const site = path.resolve(import.meta.dirname, '..');
const sdk = path.resolve(site, '../packages/sdk');

/** The folder of the generated pages, in site/ and in the site. */
export const FOLDER = 'sdk';
const PACKAGE = 'railhead-sdk';

/** Source files of the entries of the package by their names. */
const ENTRIES = {
  [PACKAGE]: 'src/index.ts',
  [`${PACKAGE}/node`]: 'src/node.ts',
  [`${PACKAGE}/wallets`]: 'src/wallets/index.ts',
  [`${PACKAGE}/webhooks`]: 'src/webhooks.ts',
};

const OPTIONS = {
  entryPoints: Object.values(ENTRIES).map((file) => path.join(sdk, file)),
  tsconfig: path.join(sdk, 'tsconfig.esm.json'),
  plugin: ['typedoc-plugin-markdown'],
  out: path.join(site, FOLDER),
  name: 'TypeScript SDK',
  readme: 'none',
  // `npm run test:sdk` compiles it.
  skipErrorChecking: true,
  disableSources: true,
  disableGit: true,
  excludeInternal: true,
  excludePrivate: true,
  // Schemas of the API have no comments.
  excludeNotDocumented: true,
  excludeNotDocumentedKinds: ['TypeAlias'],
  entryFileName: 'index',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: true,
  parametersFormat: 'list',
  // Generated types have tags that the parser does not support.
  logLevel: 'Error',
};

/**
 * Names types where TypeDoc would write them out: the function of an operation, whose fields are on its page,
 * and the data of all events.
 */
function shorten(project, typedoc) {
  const { LiteralType, PredicateType, ReferenceType, ReflectionKind } = typedoc;
  const ids = new Set(entries.filter(({ isWebhook }) => !isWebhook).map(({ id }) => id));
  const method = project.getChildByName([PACKAGE, 'Method']);
  for (const property of project.getReflectionsByKind(ReflectionKind.Property)) {
    if (!property.parent?.name.endsWith('Group') || !ids.has(property.name)) continue;
    const type = ReferenceType.createResolvedReference('Method', method, project);
    type.typeArguments = [new LiteralType(property.name)];
    project.removeTypeReflections(property.type);
    property.type = type;
    const text = `\n\n[Fields, errors and examples](/operations/${property.name})`;
    property.comment?.summary.push({ kind: 'text', text });
  }
  const webhooks = `${PACKAGE}/webhooks`;
  const events = project.getChildByName([webhooks, 'EventDataByType']);
  delete events.children;
  delete events.groups;
  const [isEvent] = project.getChildByName([webhooks, 'isEvent']).signatures;
  const event = project.getChildByName([PACKAGE, 'WebhookEvent']);
  const narrowedEvent = ReferenceType.createResolvedReference('WebhookEvent', event, project);
  narrowedEvent.typeArguments = [ReferenceType.createBrokenReference('Type', project)];
  project.removeTypeReflections(isEvent.type);
  isEvent.type = new PredicateType('event', false, narrowedEvent);
}

/** Writes the pages. The generated types of the SDK must be there. */
export async function writeSdkReference() {
  const typedoc = await import('typedoc');
  const app = await typedoc.Application.bootstrapWithPlugins(OPTIONS);
  const project = await app.convert();
  if (!project) throw new Error('The SDK cannot be read.');
  const names = Object.keys(ENTRIES);
  for (const [index, child] of (project.children ?? []).entries()) {
    const name = names.find((each) => ENTRIES[each] === `src/${child.name}.ts`);
    child.name = name ?? names.find((each) => each.endsWith(`/${child.name}`)) ?? names[index];
  }
  shorten(project, typedoc);
  rmSync(OPTIONS.out, { recursive: true, force: true });
  await app.generateOutputs(project);
  if (app.logger.hasErrors()) throw new Error('The reference of the SDK has errors.');
  writeStart();
}

/**
 * Puts the README of the package before the list of its entries. Links that leave the package
 * become text.
 */
function writeStart() {
  const file = path.join(OPTIONS.out, 'index.md');
  const [, list] = readFileSync(file, 'utf8').split('## Modules');
  if (!list) throw new Error('The reference of the SDK lists no entries.');
  const readme = readFileSync(path.join(sdk, 'README.md'), 'utf8')
    .replace(/^# .*/, `# ${OPTIONS.name}`)
    .replaceAll(/\[([^\]]+)\]\(\.\.\/[^)]*\)/g, '$1');
  writeFileSync(file, `${readme}\n## Reference\n${list}`);
}

const isPage = (name) => name.endsWith('.md') && name !== 'index.md';

/** Pages below a folder, by their kind. */
function pagesIn(folder) {
  return readdirSync(path.join(site, folder), { withFileTypes: true })
    .filter((each) => each.isFile() && isPage(each.name))
    .map(({ name }) => name.slice(0, -'.md'.length))
    .sort()
    .map((name) => ({ text: name, link: `/${folder}/${name}` }));
}

const KINDS = ['functions', 'classes', 'interfaces', 'type-aliases', 'variables'];

/** Groups of the sidebar: the entries of the package, each with its pages. */
export function sdkGroups() {
  return Object.keys(ENTRIES).map((name) => {
    const folder = `${FOLDER}/${name}`;
    const items = KINDS.map((kind) => `${folder}/${kind}`)
      .filter((each) => existsSync(path.join(site, each)))
      .flatMap(pagesIn);
    return { text: name, collapsed: name !== PACKAGE, items };
  });
}
