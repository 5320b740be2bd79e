// The groups of operations: their names, their documented types and the table from which the client
// creates them at run time.

/** Group names by tag. Other tags are converted to camel case. */
const GROUPS = {
  'Platform Configuration': 'config',
  'API Tokens': 'tokens',
  'KYC/KYB Verifications': 'verifications',
  'Contact Verification': 'contacts',
  'Embedded Wallet Auth': 'walletAuth',
  'Strong Customer Authentication': 'sca',
  'Cross-Currency Transfers': 'quotes',
  'Available UMA Providers': 'umaProviders',
  VASPs: 'vasps',
  'Same-Currency Transfers': 'transfers',
  'Agent Management': 'agents',
  'Sandbox Fixtures': 'sandbox',
  'Sandbox Clock': 'sandbox',
};

const toCamelCase = (text) =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+(\w)/g, (_, letter) => letter.toUpperCase())
    .replaceAll(/[^a-zA-Z0-9]/g, '');

const toPascalCase = (text) => text[0].toUpperCase() + text.slice(1);

/** The group of an operation. */
export const groupOf = ({ tags: [tag] }) => GROUPS[tag] ?? toCamelCase(tag);

export function grouped(operations) {
  const groups = new Map();
  for (const operation of operations) {
    const name = groupOf(operation);
    groups.set(name, [...(groups.get(name) ?? []), operation]);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * Documentation comment of an operation. Links to the site are removed, because an editor cannot open
 * them. Error codes are omitted, because they are in the types.
 */
function docOf({ summary, description = '', method, route }) {
  const paragraphs = description
    .replaceAll(/\[([^\]]+)\]\(\/[^)]*\)/g, '$1')
    .replaceAll('*/', '*\\/')
    .split('\n\n')
    .filter((paragraph) => paragraph && !/^\*\*(Errors|Guides)\*\*/.test(paragraph));
  const lines = [`${summary}.`, ...paragraphs, `\`${method} ${route}\``].flatMap((line, index) => [
    ...(index ? [''] : []),
    ...line.split('\n'),
  ]);
  return `  /**\n${lines.map((line) => `   *${line ? ` ${line}` : ''}\n`).join('')}   */\n`;
}

export function groupsText(operations) {
  const groups = grouped(operations);
  const interfaces = groups.map(([name, members]) => {
    const rows = members.map((operation) => {
      const { operationId } = operation;
      return `${docOf(operation)}  readonly ${operationId}: Method<'${operationId}'>;\n`;
    });
    const tags = [...new Set(members.map(({ tags: [tag] }) => tag))].join(', ');
    return `/** ${tags}. */\nexport interface ${toPascalCase(name)}Group {\n${rows.join('\n')}}\n`;
  });
  const allGroups = groups.map(([name]) => `  readonly ${name}: ${toPascalCase(name)}Group;\n`);
  return [
    `import type { Method } from '../types.ts';\n`,
    ...interfaces,
    `/** All groups of operations. */\nexport interface Groups {\n${allGroups.join('')}}\n`,
  ].join('\n');
}

const queryParametersOf = ({ parameters = [] }) =>
  parameters.filter((parameter) => parameter.in === 'query');

/** Whether the reply is a page of a list. */
export const isList = ({ responses }) =>
  JSON.stringify(responses['200'] ?? '').includes('ListResponse"');

/**
 * Flags: i (Idempotency-Key), b (body), m (multipart), a (token of an agent), n (no credential), l
 * (list).
 */
function flagsOf(operation) {
  const { parameters = [], requestBody, security } = operation;
  const [scheme] = (security ?? []).flatMap((requirement) => Object.keys(requirement));
  const content = requestBody?.content;
  return [
    parameters.some(({ name }) => name === 'Idempotency-Key') && 'i',
    content?.['application/json'] && 'b',
    content?.['multipart/form-data'] && 'm',
    scheme === 'AgentAuth' && 'a',
    security?.length === 0 && 'n',
    isList(operation) && 'l',
  ]
    .filter(Boolean)
    .join('');
}

function rowOf(operation) {
  const { operationId, method, route, requestBody } = operation;
  // Without a body, all inputs other than path parameters are query parameters.
  const query = requestBody ? queryParametersOf(operation).map(({ name }) => name) : [];
  return [operationId, method, route, flagsOf(operation) || '-', ...query].join(' ');
}

export function tableText(operations) {
  const rows = grouped(operations).map(
    ([name, members]) => `  ${name}: \`\n${members.map(rowOf).join('\n')}\`,\n`,
  );
  return (
    '/** Operations by group, one a line: name, method, path, flags, and parameters that are in the\n' +
    ' * query although there is a body. Flags: i Idempotency-Key, b body, m multipart, a token of an\n' +
    ' * agent, n no credential, l list. */\n' +
    `export const TABLE = {\n${rows.join('')}} as const;\n`
  );
}
