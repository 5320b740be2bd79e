// Examples of requests and replies in the API document, and descriptions of its operations.
import { describe, expect, it } from 'vitest';
import { operatorDocument, publishedDocument } from '../../document.ts';

interface Content {
  content?: Record<string, { examples?: object }>;
}

interface Operation {
  operationId: string;
  description?: string;
  requestBody?: Content;
  responses: Record<string, Content>;
}

type Items = Record<string, Record<string, Operation>>;

const operationsOf = (paths: Items) => Object.values(paths).flatMap((item) => Object.values(item));

const { paths, webhooks } = publishedDocument() as Record<'paths' | 'webhooks', Items>;
const operations = operationsOf(paths);
const operatorOperations = operationsOf((operatorDocument() as { paths: Items }).paths);

const hasNoExamples = ({ content = {} }: Content) =>
  Object.values(content).some(({ examples }) => examples === undefined);

describe('examples of the document', () => {
  describe.each([
    ['platform', operations],
    ['operator', operatorOperations],
  ])('of the %s API', (_, documentedOperations) => {
    it('exist for each request with a body', () => {
      const incompleteOperations = documentedOperations.filter(
        ({ requestBody }) => requestBody && hasNoExamples(requestBody),
      );
      expect(incompleteOperations.map(({ operationId }) => operationId)).toEqual([]);
    });

    it('exist for each successful reply with a body', () => {
      const incompleteReplies = documentedOperations.flatMap(({ operationId, responses }) =>
        Object.entries(responses)
          .filter(([status, reply]) => status < '400' && hasNoExamples(reply))
          .map(([status]) => `${operationId} ${status}`),
      );
      expect(incompleteReplies).toEqual([]);
    });
  });

  it('exist for each webhook', () => {
    const incompleteWebhooks = Object.entries(webhooks).filter(([, { post }]) =>
      hasNoExamples(post?.requestBody ?? {}),
    );
    expect(incompleteWebhooks.map(([name]) => name)).toEqual([]);
  });
});

describe('descriptions of operations', () => {
  it('begin with the effect of the operation', () => {
    const incompleteOperations = operations.filter(
      ({ description }) => !description || description.startsWith('**'),
    );
    expect(incompleteOperations.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('link to a guide', () => {
    const incompleteOperations = operations.filter(
      ({ description }) => !description?.includes('**Guides**'),
    );
    expect(incompleteOperations.map(({ operationId }) => operationId)).toEqual([]);
  });
});
