// Writes dist/api/. Every start reads `index.json`, which contains the names of all resources and
// operations. The data of the operations is in one file per resource. Only the commands of the
// resource read this file.
import fs from 'node:fs';
import path from 'node:path';
import { operationsOf } from '../../operations.mjs';
import { grouped } from '../../sdk/scripts/groups.mjs';
import { bodyFields, queryFields } from './fields.mjs';
import { kebabCase, verbOf } from './names.mjs';

/**
 * The description without its errors, guides and idempotency. Links become text, because a terminal
 * cannot follow them.
 */
const textOf = ({ description = '' }) =>
  description
    .split('\n\n')
    .filter((each) => each && !/^\*\*(Errors|Guides|Idempotency)\*\*/.test(each))
    .join('\n\n')
    .replaceAll(/ \(\[all values\]\([^)]*\)\)/g, '')
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '')
    .replaceAll('`', '');

const examplesOf = (content) =>
  Object.entries(content?.examples ?? {}).map(([name, { summary, value }]) => ({
    name,
    summary,
    value,
  }));

function bodyOf(document, { requestBody }) {
  if (!requestBody) return undefined;
  const [[type, content]] = Object.entries(requestBody.content);
  return {
    kind: type === 'multipart/form-data' ? 'form' : 'json',
    required: requestBody.required ?? false,
    fields: bodyFields(document, content.schema),
    examples: examplesOf(content),
  };
}

function commandOf(document, group, operation) {
  const { operationId, route, method, summary, parameters = [], responses, security } = operation;
  const parametersIn = (location) => parameters.filter((each) => each.in === location);
  const hasHeader = (header) => parametersIn('header').some(({ name }) => name === header);
  const isList = JSON.stringify(responses['200'] ?? '').includes('ListResponse"');
  const body = bodyOf(document, operation);
  const [scheme] = (security ?? []).flatMap((each) => Object.keys(each));
  return {
    id: operationId,
    verb: verbOf(operationId, group),
    method,
    route,
    summary,
    text: textOf(operation),
    params: parametersIn('path').map(({ name, description, example }) => ({
      name,
      text: description,
      example,
    })),
    query: queryFields(document, parametersIn('query')),
    ...(body && { body }),
    ...(isList && { isList }),
    ...(scheme === 'AgentAuth' && { isOfAgent: true }),
    ...(hasHeader('Idempotency-Key') && { hasKey: true }),
    ...(hasHeader('Service-Wallet-Signature') && { isSignable: true }),
  };
}

function checkVerbs(name, commands) {
  const verbs = commands.map(({ verb }) => verb);
  const repeatedVerbs = verbs.filter((each, index) => verbs.indexOf(each) !== index);
  if (repeatedVerbs.length)
    throw new Error(
      `${name}: several operations are named ${repeatedVerbs.join(', ')}. Add verbs to names.mjs.`,
    );
}

const eventsOf = (document) =>
  Object.values(document.webhooks)
    .flatMap(({ post }) => {
      const { type } = post.requestBody.content['application/json'].schema.properties;
      return type.enum ?? type.allOf.find((each) => each.enum).enum;
    })
    .sort();

export function generate(document, folder) {
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const write = (name, value) =>
    fs.writeFileSync(path.join(folder, `${name}.json`), JSON.stringify(value));
  const resources = grouped(operationsOf(document)).map(([group, members]) => {
    const name = kebabCase(group);
    const commands = members.map((each) => commandOf(document, group, each));
    checkVerbs(name, commands);
    write(name, commands);
    const tags = [...new Set(members.map(({ tags: [tag] }) => tag))].join(', ');
    return { name, group, title: tags, operations: commands.map(({ id, verb }) => [id, verb]) };
  });
  write('index', {
    apiDate: document.info.version,
    resources,
    events: eventsOf(document),
    worlds:
      document.components.schemas.SandboxFixtureRequest.properties.world['x-enumDescriptions'],
  });
}
