// Operations on documents. The hosted page shares their implementation in document.ts.
import { invalidField } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Filter } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { readCustomer } from '../records/index.ts';
import {
  deleteDocument,
  getDocument,
  listDocuments,
  replaceDocument,
  uploadDocument,
} from './contract.ts';
import {
  addDocument,
  changeDocument,
  type DocumentDeps,
  type DocumentView,
  documentOf,
  presentDocument,
  removeDocument,
} from './document.ts';
import { type DocumentRow, documents } from './store.ts';

async function viewOf(ctx: Ctx, row: DocumentRow): Promise<DocumentView> {
  const customer = await readCustomer(ctx, row.customer_id);
  if (!customer) throw new Error(`${row.id} belongs to no customer`);
  return presentDocument(ctx.vault, customer, row);
}

function filtersOf(ctx: Ctx, holder: string | undefined): Filter<typeof documents>[] {
  const ownPlatformFilter = {
    column: 'platform_id',
    op: '=',
    value: ctx.caller.platformId,
  } as const;
  if (holder === undefined) return [ownPlatformFilter];
  if (!isId(holder, 'Customer') && !isId(holder, 'BeneficialOwner')) {
    throw invalidField('documentHolder', 'must be the ID of a customer or beneficial owner');
  }
  return [ownPlatformFilter, { column: 'holder_id', op: '=', value: holder }];
}

export const documentOperations = (deps: DocumentDeps) => [
  handle(uploadDocument, async (ctx, { body }) => {
    const { row, customer } = await addDocument(ctx, deps, body);
    return { status: 201, body: presentDocument(ctx.vault, customer, row) };
  }),

  handle(listDocuments, async (ctx, { query }) => {
    const { rows, ...rest } = await ctx.db.page(documents, {
      filters: filtersOf(ctx, query.documentHolder),
      sort: 'desc',
      limit: query.limit ?? 20,
      cursor: query.cursor,
    });
    const data = await Promise.all(rows.map((row) => viewOf(ctx, row)));
    return { status: 200, body: { data, ...rest } };
  }),

  handle(getDocument, async (ctx, { params }) => ({
    status: 200,
    body: await viewOf(ctx, await documentOf(ctx, params.documentId)),
  })),

  handle(replaceDocument, async (ctx, { params, body }) => {
    const previousRow = await documentOf(ctx, params.documentId);
    const { row, customer } = await changeDocument(ctx, deps, previousRow, body);
    return { status: 200, body: presentDocument(ctx.vault, customer, row) };
  }),

  handle(deleteDocument, async (ctx, { params }) => {
    await removeDocument(ctx, await documentOf(ctx, params.documentId));
    return { status: 204, body: undefined };
  }),
];
