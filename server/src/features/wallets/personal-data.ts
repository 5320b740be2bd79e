// Personal data of wallets, for exports and erasures. An erasure deletes the seed, so the wallet becomes
// permanently inaccessible. Signatures remain, but their text is unreadable without the customer's data key.

import { UNPAGED } from '../../runtime/db/database.ts';
import type { RowOf } from '../../runtime/db/table.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import {
  CUSTOMER_ROWS_SQL,
  type PersonalData,
  rowAs,
} from '../../runtime/operation/personal-data.ts';
import type { DataKey, Vault } from '../../runtime/security/vault.ts';
import { eraseCodes } from '../notifications/codes/index.ts';
import { factsContext, nicknameContext } from './accounts/credentials.ts';
import { openFor } from './accounts/wallet.ts';
import { eraseRecoveries } from './recovery/recovery.ts';
import { authorizationContext } from './signing/requests.ts';
import { credentialStates } from './states.ts';
import { type CredentialRow, credentials, type walletAuthorizations, wallets } from './store.ts';

export type AuthorizationRow = RowOf<typeof walletAuthorizations>;

interface Opener {
  vault: Vault;
  /** Undefined after an erasure, so no data can be decrypted. */
  key: DataKey | undefined;
}

const openColumn = ({ vault, key }: Opener, ciphertext: string | null, context: string): unknown =>
  key && ciphertext !== null ? openFor({ vault }, { key }, ciphertext, context) : null;

/** Decrypts the personal data of a credential. */
const credentialPersonal = (opener: Opener, row: CredentialRow) => ({
  nickname: openColumn(opener, row.nickname, nicknameContext(row.id)),
  facts: openColumn(opener, row.facts, factsContext(row.id)),
});

/** Decrypts the signed text. */
export const authorizationPersonal = (opener: Opener, row: AuthorizationRow) => ({
  payload: openColumn(opener, row.payload, authorizationContext(row.id)),
});

/**
 * Stages the deletion of the seeds of a customer's wallets, the revocation of credentials, and the
 * cancellation of recoveries.
 */
async function eraseWallets(ctx: Ctx, customerId: string): Promise<void> {
  const filter = { customer_id: customerId };
  const [walletRows, credentialRows] = await Promise.all([
    ctx.db.find(wallets, filter, UNPAGED),
    ctx.db.find(credentials, filter, UNPAGED),
  ]);
  await eraseRecoveries(ctx, customerId);
  for (const row of walletRows) ctx.update(wallets, row, { seed: null });
  for (const row of credentialRows) {
    ctx.update(credentials, row, {
      ...(row.status === 'ACTIVE' ? { status: credentialStates.next(row.status, 'revoke') } : {}),
      uniqueness_key: null,
      nickname: null,
      facts: null,
      updated_at: ctx.now,
    });
  }
}

const CODE_IDS_SQL = `select 'otp ' || id as id from credentials where customer_id = $1`;

/** An erasure also removes one-time codes, because their keyed hash covers the contact. */
export const walletPersonalData: PersonalData = {
  tables: {
    wallets: { rows: CUSTOMER_ROWS_SQL, without: ['seed'], erasure: 'emptied', atOnce: true },
    credentials: {
      rows: CUSTOMER_ROWS_SQL,
      without: ['uniqueness_key', 'challenge_hash'],
      open: (opener, row) => credentialPersonal(opener, rowAs<CredentialRow>(row)),
      erasure: 'emptied',
      atOnce: true,
    },
    wallet_sessions: { rows: CUSTOMER_ROWS_SQL, erasure: 'removed' },
    wallet_requests: {
      rows: CUSTOMER_ROWS_SQL,
      without: ['payload', 'input', 'bound', 'signer', 'stamp_hash', 'reply'],
      erasure: 'removed',
    },
    otp_targets: { rows: CUSTOMER_ROWS_SQL, without: ['target'], erasure: 'removed' },
    wallet_authorizations: {
      rows: CUSTOMER_ROWS_SQL,
      open: (opener, row) => authorizationPersonal(opener, rowAs<AuthorizationRow>(row)),
      erasure: {
        retained: 'key and operation of a signature. The payload is sealed under a deleted key',
      },
    },
    wallet_recoveries: {
      rows: CUSTOMER_ROWS_SQL,
      without: ['contact_digest'],
      erasure: { retained: 'request of a wallet recovery, its actor and its reason' },
    },
  },
  erase: (ctx, { id }) => eraseWallets(ctx, id),
  async empty(runtime, { id: customerId }) {
    const ids = await runtime.db.query<{ id: string }>(CODE_IDS_SQL, [customerId]);
    return {
      codes: await eraseCodes(
        runtime,
        ids.map(({ id }) => id),
      ),
    };
  },
};
