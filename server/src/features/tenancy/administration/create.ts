// Creation of a platform row. Accounts and the first token are created by other features. See bootstrap.ts.

import { findCurrency } from '../../../catalog/currencies/currencies.ts';
import { invalid } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { defaultUmaDomain, openCurrency } from '../config/index.ts';
import { insertPlatform, type PasskeySite, type PlatformRow } from '../platform/index.ts';

export interface NewPlatform {
  name: string;
  environment: Mode;
  /** Regulated: the platform verifies its customers, who are approved at creation. */
  regulated: boolean;
  documentsOptional: boolean;
  /** Codes from the catalog, each once. */
  currencies: readonly string[];
  /** Strong customer authentication in regions that require it. Defaults to true. */
  sca?: boolean | undefined;
  /** Payments with a conversion are authorized in two steps. Defaults to false. */
  scaTwoSteps?: boolean | undefined;
  /** Passkey site of the platform's app. */
  passkeySite?: PasskeySite | null | undefined;
  /** Rejects payments until the end-user terms are accepted. Defaults to false. */
  termsRequired?: boolean | undefined;
  /** Customers of the platform may invite others. Defaults to true. */
  invitations?: boolean | undefined;
  standardWebhooks?: boolean | undefined;
}

/** Throws `INVALID_INPUT` with every unknown or repeated code. */
export function checkCurrencyCodes(
  codes: readonly string[],
  fieldOf: (index: number) => string,
): void {
  const errors = codes.flatMap((code, index) => {
    if (!findCurrency(code))
      return { field: fieldOf(index), message: `${code} is not a supported currency` };
    if (codes.indexOf(code) < index)
      return { field: fieldOf(index), message: `${code} is listed twice` };
    return [];
  });
  if (errors.length) throw invalid(errors);
}

/**
 * Stages a new platform as the caller's own. Run it inside `operate` with `systemCaller` of an ID
 * from `newPlatformId`. Throws `INVALID_INPUT` for an unknown or repeated currency.
 */
export function createPlatform(ctx: Ctx, input: NewPlatform): PlatformRow {
  checkCurrencyCodes(input.currencies, (index) => `currencies.${index}`);
  // The random suffix of the ID, so that platforms that are created concurrently have different subdomains.
  const subdomain = `p-${ctx.caller.platformId.slice(-12)}`;
  return insertPlatform(ctx, {
    id: ctx.caller.platformId,
    name: input.name,
    environment: input.environment,
    regulated: input.regulated,
    documents_optional: input.documentsOptional,
    sca: input.sca ?? true,
    terms_required: input.termsRequired ?? false,
    invitations: input.invitations ?? true,
    standard_webhooks: input.standardWebhooks ?? true,
    wallet_polls: 0,
    passkey_site: input.passkeySite ?? null,
    sca_two_steps: input.scaTwoSteps ?? false,
    uma_domain: defaultUmaDomain(subdomain),
    proxy_uma_subdomain: subdomain,
    currencies: input.currencies.map(openCurrency),
    fees: [],
    limits: [],
    created_at: ctx.now,
    updated_at: ctx.now,
  });
}
