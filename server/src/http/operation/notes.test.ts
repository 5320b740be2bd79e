// Operations, tags and links in the notes of the reference.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { operatorDocument, publishedDocument } from '../../document.ts';
import { webhookContracts } from '../../features.ts';
import { projectRoot } from '../../runtime/config/root.ts';
import { TAGS } from '../tags.ts';
import {
  EMITTING_OPERATION_IDS,
  eventsOf,
  LATER_OPERATION_IDS,
  laterWebhooksOf,
} from './events.ts';
import { SECTIONS } from './guide-sections.ts';
import { addressOf, GUIDES, OPERATOR_GUIDES, WEBHOOK_GUIDES } from './guides.ts';
import { NOTE_TABLES } from './notes.ts';

interface Operation {
  operationId: string;
  description: string;
}
type Items = Record<string, Record<string, Operation>>;
interface ApiDocument {
  tags: { name: string }[];
  paths: Items;
  webhooks?: Items;
}
const operationsOf = ({ paths, webhooks = {} }: ApiDocument) =>
  [paths, webhooks].flatMap((items) => Object.values(items).flatMap((item) => Object.values(item)));

const platformApi = publishedDocument() as unknown as ApiDocument;
const operatorApi = operatorDocument() as unknown as ApiDocument;
const operationIds = new Set(operationsOf(platformApi).map(({ operationId }) => operationId));
const docs = path.join(projectRoot(), 'docs');

const textOf = (page: string) => readFileSync(path.join(docs, `${page}.md`), 'utf8');

const anchorOf = (title: string) =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');

/** Anchors of the second-level headings of a page. */
const sectionsOf = (page: string) =>
  [...textOf(page).matchAll(/^## (.*)$/gm)].map(([, title = '']) => anchorOf(title));

/** Text of a page, or of the section that follows `#`. */
function linkedText(address: string): string {
  const [page = '', section] = address.split('#');
  if (section === undefined) return textOf(page);
  const parts = textOf(page).split(/^## /m);
  return parts.find((part) => anchorOf(part.split('\n', 1)[0] ?? '') === section) ?? '';
}

/** A segment of a path in a guide that is a parameter: a name, a variable or an encoded value. */
const PARAMETER = '(?:[{$%…])[^/\\s?`]*';

/** The path of an operation in a guide, not as the beginning or the end of another path. */
const patternOf = (itemPath: string) =>
  new RegExp(`(?<![\\w/}])${itemPath.replaceAll(/\{\w+\}/g, PARAMETER)}(?![\\w/{$-])`);

/** Variables of guides that contain the address of the API. */
const BASE_ADDRESS = /\$(?:RAILHEAD_URL|BASE)(?=\/)/g;

const linksOf = ({ description }: Operation) => {
  const [, links = ''] = /^\*\*Guides\*\*: (.*)$/m.exec(description) ?? [];
  return [...links.matchAll(/\]\(\/docs\/([^)]*)\)/g)].map(([, address = '']) => address);
};

describe('notes of the reference', () => {
  it('belong to existing operations and tags', () => {
    const notedOperations = [
      ...NOTE_TABLES.operations,
      ...EMITTING_OPERATION_IDS,
      ...LATER_OPERATION_IDS,
      ...Object.values(SECTIONS).flatMap(([, ...ids]) => ids),
    ];
    expect(notedOperations.filter((operationId) => !operationIds.has(operationId))).toEqual([]);
    expect(Object.keys(GUIDES).filter((tag) => !(tag in TAGS))).toEqual([]);
    expect(Object.keys(WEBHOOK_GUIDES).sort()).toEqual(
      webhookContracts.map(({ name }) => name).sort(),
    );
    const operatorTags = operatorApi.tags.map(({ name }) => name);
    expect(Object.keys(OPERATOR_GUIDES).sort()).toEqual(operatorTags.sort());
  });

  it.each([
    ['platform', platformApi],
    ['operator', operatorApi],
  ])('link every operation of the %s API to a guide', (_, document) => {
    const unguided = operationsOf(document).filter(
      ({ description }) => !/^\*\*Guides\*\*: \[/m.test(description),
    );
    expect(unguided.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('link every operation of a platform to sections that name the operation or its path', () => {
    const unnamed = Object.entries(platformApi.paths).flatMap(([itemPath, item]) =>
      Object.values(item).flatMap((operation) =>
        linksOf(operation)
          .filter((address) => {
            const text = linkedText(address).replaceAll(BASE_ADDRESS, '');
            const isNamed = new RegExp(`\\b${operation.operationId}\\b`).test(text);
            return !isNamed && !patternOf(itemPath).test(text);
          })
          .map((address) => `${operation.operationId}: ${address}`),
      ),
    );
    expect(unnamed).toEqual([]);
  });

  it('link every webhook to a section that names one of its events', () => {
    const unnamed = webhookContracts.flatMap(({ name, events }) => {
      const eventNames = events.map(({ type }) => type.replace(/\..*/, ''));
      const pattern = new RegExp(`\\b(?:${eventNames.join('|')})\\b`);
      return (WEBHOOK_GUIDES[name] ?? [])
        .map(([, page]) => addressOf(page).slice(1))
        .filter((address) => !pattern.test(linkedText(address)))
        .map((address) => `${name}: ${address}`);
    });
    expect(unnamed).toEqual([]);
  });

  it('list the same later webhooks for an operation of agents and that of platforms', () => {
    const agentOperations = [...operationIds].filter((id) => id.startsWith('agent'));
    const differences = agentOperations.filter((id) => {
      const name = id.slice('agent'.length).replace(/^./, (letter) => letter.toLowerCase());
      const platformNames = [name, name.replace('create', 'createCustomer')];
      const expectedWebhooks = new Set(platformNames.flatMap(laterWebhooksOf));
      const webhooks = laterWebhooksOf(id);
      const isMissing = expectedWebhooks.size > 0 && webhooks.length === 0;
      return isMissing || webhooks.some((webhook) => !expectedWebhooks.has(webhook));
    });
    expect(differences).toEqual([]);
  });

  it('name existing webhooks, and each event of the catalog is in a note or a named webhook', () => {
    const namedWebhooks = new Set(LATER_OPERATION_IDS.flatMap(laterWebhooksOf));
    const webhookNames = webhookContracts.map(({ name }) => name);
    expect([...namedWebhooks].filter((name) => !webhookNames.includes(name))).toEqual([]);
    const emittedTypes = new Set(EMITTING_OPERATION_IDS.flatMap(eventsOf));
    const missingTypes = webhookContracts
      .filter(({ name }) => !namedWebhooks.has(name))
      .flatMap(({ events }) => events.map(({ type }) => type))
      .filter((type) => !emittedTypes.has(type));
    expect(missingTypes).toEqual([]);
  });

  it('link to guides and sections that exist', () => {
    const pages = [GUIDES, OPERATOR_GUIDES, WEBHOOK_GUIDES].flatMap((guides) =>
      Object.values(guides).flatMap((links) => links.map(([, page]) => page)),
    );
    const invalidAddresses = [...pages, ...Object.keys(SECTIONS)]
      .map(addressOf)
      .filter((address) => {
        const [page = '', section] = address.split('#');
        if (!existsSync(path.join(docs, `${page}.md`))) return true;
        return section !== undefined && !sectionsOf(page).includes(section);
      });
    expect(invalidAddresses).toEqual([]);
    const sections = sectionsOf('concepts/sandbox');
    expect(NOTE_TABLES.sections.filter((section) => !sections.includes(section))).toEqual([]);
  });
});
