// A Markdown page for each operation and webhook, from the API document.
import { document, nameOf, resolve, textFor } from './document.mjs';
import { tablesOf, typeOf } from './fields.mjs';
import { limitsOf } from './limits.mjs';
import { samplesOf } from './samples.mjs';

/** Address of the server in the guides. */
const HOST = 'http://localhost:4000';

/**
 * Maximum number of tabs. A larger number of examples of a request is shown without tabs, one below
 * the other. Further examples of a reply are omitted.
 */
const MAX_TABS = 4;

/** Maximum number of colored examples, because each token is an element of the page. */
const MAX_COLORED = 12;

/**
 * Maximum number of variants in a reply or event. Larger unions, such as all account types, are only named.
 */
const MAX_VARIANTS = 8;

const isSuccess = ([status]) => status.startsWith('2');

/** Text of a table cell. */
const cell = (text) => text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ');

const table = (header, rows) =>
  [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const fence = (language, text, title = '') =>
  `\`\`\`${language}${title && ` [${title}]`}\n${text}\n\`\`\``;

const details = (title, text) => `::: details ${title}\n${text}\n:::`;

/**
 * Facts of the description, such as `**Access**: …`, by their names. `text` is the description without the
 * facts.
 */
export function partsOf({ operation }) {
  const blocks = (operation.description ?? '').split('\n\n');
  const facts = blocks.flatMap((block) => {
    const [, name, text] = /^\*\*(\w+)\*\*: ([\s\S]*)$/.exec(block) ?? [];
    return name ? [[name, text]] : [];
  });
  const text = blocks.filter((block) => !/^\*\*\w+\*\*: /.test(block)).join('\n\n');
  return { text, ...Object.fromEntries(facts) };
}

const slug = (text) => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

const anchorOfTable = ({ at, value, name }) => slug(`body-${at}-${value}${name ? `-${name}` : ''}`);

function titleOfTable({ at, discriminator, value, name }) {
  const place = at || discriminator;
  return `${place ? `${place}: ` : ''}${value}${name ? ` (${name})` : ''}`;
}

/** Descriptions end with a period before further sentences follow. */
const sentence = (text = '') => (text && !/[.!?:)]$/.test(text) ? `${text}.` : text);

const capitalize = (text) => text.charAt(0).toUpperCase() + text.slice(1);

const nameCell = (name, type, required) => `\`${name}\` ${type}${required ? ', **required**' : ''}`;

function fieldRow(entry, row, isLinked) {
  const variants = row.variants.map((variant) =>
    isLinked && variant.rows ? `[${variant.value}](#${anchorOfTable(variant)})` : variant.value,
  );
  const texts = [
    sentence(textFor(entry, row.description)),
    ...limitsOf(row.schema, row.description),
    ...(variants.length ? [`Variants: ${variants.join(', ')}.`] : []),
  ];
  const type = row.typeName ? `${typeOf(row.schema)} ${row.typeName}` : typeOf(row.schema);
  const name = nameCell(row.name, type, row.required);
  return [name, texts.filter(Boolean).join(' ')].map(cell);
}

/** The fields of a schema. If `isLinked`, variants have headings and are linked. */
function fieldTables(entry, schema, isLinked) {
  const maxVariants = isLinked && !entry.isWebhook ? undefined : MAX_VARIANTS;
  return tablesOf(schema, maxVariants).map((fieldTable) => {
    const rows = fieldTable.rows.map((row) => fieldRow(entry, row, isLinked));
    const rowsText = rows.length ? table(['Field', 'Description'], rows) : 'No fields.';
    if (fieldTable.value === undefined) return rowsText;
    const title = titleOfTable(fieldTable);
    const heading = isLinked ? `### ${title} {#${anchorOfTable(fieldTable)}}` : `**${title}**`;
    const { title: schemaTitle, description = schemaTitle } = resolve(fieldTable.schema);
    const lead = description ? [sentence(textFor(entry, description))] : [];
    return [heading, ...lead, rowsText].join('\n\n');
  });
}

function examplesOf(content) {
  const examples = Object.entries(content?.examples ?? {}).map(([key, example]) => {
    const { summary, value } = resolve(example);
    return {
      title: (summary ?? key).replaceAll(/[[\]]/g, ''),
      text: JSON.stringify(value, null, 2),
    };
  });
  if (examples.length <= 1) return examples.map(({ text }) => fence('json', text));
  const language = examples.length > MAX_COLORED ? 'txt' : 'json';
  if (examples.length > MAX_TABS)
    return examples.map(({ title, text }) => details(title, fence(language, text)));
  const tabs = examples.map(({ title, text }) => fence('json', text, title));
  return [`::: code-group\n${tabs.join('\n')}\n:::`];
}

function replyExamplesOf(content) {
  const examples = Object.entries(content.examples ?? {});
  const shownExamples = examplesOf({ examples: Object.fromEntries(examples.slice(0, MAX_TABS)) });
  if (examples.length <= MAX_TABS) return shownExamples;
  const link = `[OpenAPI document](${HOST}/docs/openapi.json)`;
  return [...shownExamples, `${examples.length - MAX_TABS} more examples are in the ${link}.`];
}

function parametersOf(entry) {
  const parameters = (entry.operation.parameters ?? []).map(resolve);
  if (parameters.length === 0) return [];
  const rows = parameters.map(({ name, in: location, required, description, schema }) =>
    [
      nameCell(name, `${typeOf(schema)} in ${location}`, required),
      [sentence(textFor(entry, description)), ...limitsOf(schema, description)]
        .filter(Boolean)
        .join(' '),
    ].map(cell),
  );
  return ['## Parameters', table(['Parameter', 'Description'], rows)];
}

function bodyOf(entry) {
  const [type, content] = Object.entries(entry.operation.requestBody?.content ?? {})[0] ?? [];
  if (content === undefined) return [];
  const description = resolve(content.schema).description;
  const examples = examplesOf(content);
  return [
    entry.isWebhook ? '## Payload' : '## Request body',
    ...(type === 'application/json' ? [] : [`Sent as \`${type}\`.`]),
    ...(description ? [sentence(textFor(entry, description))] : []),
    ...fieldTables(entry, content.schema, true),
    ...(examples.length ? ['## Examples', ...examples] : []),
  ];
}

const leadOf = (text = '') => text.split('\n\n- ')[0];

function repliesOf(entry) {
  const replies = Object.entries(entry.operation.responses).filter(
    (reply) => entry.isWebhook || isSuccess(reply),
  );
  const statusBySchema = new Map();
  return [
    entry.isWebhook ? '## Expected replies' : '## Reply',
    ...replies.flatMap(([status, reference]) => {
      const response = resolve(reference);
      const content = response.content?.['application/json'];
      const introduction = `**${status}** ${textFor(entry, leadOf(response.description))}`;
      if (content === undefined) return [introduction];
      const name = nameOf(content.schema);
      const examples = replyExamplesOf(content);
      if (statusBySchema.has(name))
        return [
          introduction,
          `The reply has the fields of ${statusBySchema.get(name)}.`,
          ...examples,
        ];
      if (name) statusBySchema.set(name, status);
      const fields = fieldTables(entry, content.schema, false).join('\n\n');
      const title = `Fields of the reply ${status}${name ? `: ${name}` : ''}`;
      return [introduction, details(title, fields), ...examples];
    }),
  ];
}

const ERROR = /^- (\[`\w+`\]\([^)]*\)): (.*)$/gm;

function errorsOf(entry) {
  if (entry.isWebhook) return [];
  const rows = Object.entries(entry.operation.responses)
    .filter((reply) => !isSuccess(reply))
    .flatMap(([status, reference]) =>
      [...resolve(reference).description.matchAll(ERROR)].map(([, code, text]) =>
        [`${textFor(entry, code)} ${status}`, textFor(entry, text)].map(cell),
      ),
    );
  return ['## Errors', table(['Code and status', 'Cause and remedy'], rows)];
}

function requestOf(entry) {
  if (entry.isWebhook) return [];
  const samples = samplesOf(entry, `${HOST}${document.servers[0].url}`);
  const tabs = samples.map(({ language, title, text }) => fence(language, text, title));
  return ['## Request', `::: code-group\n${tabs.join('\n')}\n:::`];
}

/** Opens the form of the theme. The link is its own anchor. */
const TRY_IT = '[Try it](#try){#try}';

const frontmatterOf = ({ isWebhook }) =>
  `---\npageClass: operation\nhasRequest: ${!isWebhook}\n---`;

/** The page of an operation or webhook. */
export function pageOf(entry) {
  const { operation, method, path, id, isWebhook } = entry;
  const { text, Access, Idempotency, Events, Sandbox, Guides } = partsOf(entry);
  const fact = (name, value) => (value ? [`**${name}**: ${textFor(entry, value)}`] : []);
  const section = (title, value) =>
    value ? [`## ${title}`, capitalize(textFor(entry, value))] : [];
  const address = isWebhook ? 'POST to the webhook endpoint' : `\`${method} ${path}\``;
  return [
    frontmatterOf(entry),
    `# ${operation.summary}`,
    `${address} \`${id}\`${isWebhook ? '' : ` ${TRY_IT}`}`,
    ...(operation.deprecated ? ['**Deprecated**'] : []),
    textFor(entry, text),
    ...fact('Access', Access),
    ...fact('Idempotency', Idempotency),
    ...requestOf(entry),
    ...parametersOf(entry),
    ...bodyOf(entry),
    ...repliesOf(entry),
    ...errorsOf(entry),
    ...section('Events', Events),
    ...section('Sandbox values', Sandbox),
    ...section('Guides', Guides),
  ]
    .join('\n\n')
    .concat('\n');
}
