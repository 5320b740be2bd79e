// The operations on customers: registering, reading, deleting, and the terms that end users accept.
// Changing one is in update.ts.
import type { Static } from '@sinclair/typebox';
import type { Ctx } from '../../runtime/context.ts';
import { handle } from '../../runtime/handle.ts';
import type { PlatformRow } from '../platform/index.ts';
import {
  type Candidate,
  channelsAfter,
  complaintsAbout,
  mustProveContacts,
  refuse,
  refuseUnserved,
} from './admission.ts';
import {
  createCustomer,
  deleteCustomerById,
  getCustomerById,
  getEndUserTerms,
  listCustomers,
} from './contract.ts';
import { consentOf, detailsAfter, presentCustomer, statusEvent } from './customer.ts';
import { type CustomerParts, openAccounts } from './parts.ts';
import { sealPersonal } from './personal.ts';
import { customerOf, filtersOf, platformOf, shutAccounts } from './reads.ts';
import type { CheckStatus } from './states.ts';
import { customers } from './store.ts';
import { currentTermsVersion } from './terms.ts';
import { drawUmaAddress, umaAddressOf } from './uma.ts';
import { updateOperation } from './update.ts';
import { customerView, customerViews } from './views.ts';

type Body = Static<(typeof createCustomer)['body']>;

/** Everything that `createCustomer` decides before it writes. */
function candidateOf(body: Body): Candidate {
  return {
    type: body.customerType,
    region: body.region ?? null,
    email: body.email ?? null,
    phone: body.phoneNumber ?? null,
    details: detailsAfter({ type: body.customerType, details: {} }, body),
    hasIdentifier: body.customerType === 'INDIVIDUAL' && body.identifier !== undefined,
    currencies: body.currencies,
    umaAddress: body.umaAddress === undefined ? undefined : umaAddressOf(body.umaAddress),
    consent: body.endUserTermsConsent && consentOf(body.endUserTermsConsent),
  };
}

/**
 * Platforms that do their own compliance, or were relieved of paperwork, get a decision at once where
 * somebody is there to decide; everyone else starts unverified.
 */
function firstStatus(platform: PlatformRow, of: Candidate, parts: CustomerParts): CheckStatus {
  const { identity } = parts.connectors(platform.environment);
  if (!identity || !(platform.regulated || platform.skip_paperwork)) return 'UNVERIFIED';
  return identity.atCreation({ type: of.type, fullName: of.details.fullName ?? null });
}

async function register(ctx: Ctx, body: Body, parts: CustomerParts) {
  const platform = await platformOf(ctx);
  const of = candidateOf(body);
  refuse(complaintsAbout(of, platform, ctx.now));
  refuseUnserved(platform, of.region, of.currencies);
  const id = ctx.id('Customer');
  const data_key = ctx.vault.newKey(id);
  const identifier = (body.customerType === 'INDIVIDUAL' && body.identifier) || null;
  const row = ctx.insert(customers, {
    id,
    platform_id: platform.id,
    platform_customer_id: body.platformCustomerId ?? id.slice('Customer:'.length),
    type: of.type,
    status: firstStatus(platform, of, parts),
    uma_address: of.umaAddress ?? drawUmaAddress(ctx.world, platform.uma_domain),
    region: of.region,
    currencies: body.currencies ?? null,
    email: of.email,
    phone: of.phone,
    contact_verification: channelsAfter(mustProveContacts(platform, of), null, {
      email: true,
      phone: true,
    }),
    terms_consent: of.consent ?? null,
    data_key,
    personal: sealPersonal(
      ctx.vault,
      { owner: id, sealed: data_key },
      { details: of.details, identifier },
    ),
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  openAccounts(ctx, parts, platform, row, []);
  const view = presentCustomer(ctx.vault, row, platform, []);
  const event = statusEvent(row);
  if (event) ctx.emit(event, row.id, view);
  return view;
}

async function remove(ctx: Ctx, id: string) {
  const row = await customerOf(ctx, id, { alive: true });
  await shutAccounts(ctx, row);
  const gone = ctx.update(customers, row, { deleted_at: ctx.now, updated_at: ctx.now });
  return customerView(ctx, gone);
}

export const customerOperations = (parts: CustomerParts) => [
  handle(createCustomer, async (ctx, { body }) => ({
    status: 201,
    body: await register(ctx, body, parts),
  })),

  handle(listCustomers, async (ctx, { query }) => {
    const platform = await platformOf(ctx);
    const { rows, ...rest } = await ctx.db.page(customers, {
      filters: filtersOf(query, platform),
      sort: 'desc',
      limit: query.limit ?? 20,
      cursor: query.cursor,
    });
    return {
      status: 200,
      body: { data: await customerViews(ctx, rows), ...rest },
    };
  }),

  handle(getCustomerById, async (ctx, { params }) => {
    const row = await customerOf(ctx, params.customerId);
    return { status: 200, body: await customerView(ctx, row) };
  }),

  updateOperation(parts),

  handle(deleteCustomerById, async (ctx, { params }) => ({
    status: 200,
    body: await remove(ctx, params.customerId),
  })),

  handle(getEndUserTerms, async (ctx) => {
    const { uma_domain: domain } = await platformOf(ctx);
    const version = currentTermsVersion();
    const url = parts.termsUrl?.(version) ?? `https://${domain}/end-user-terms/${version}`;
    return { status: 200, body: { version, url } };
  }),
];
