// Users of the operator API: people with roles, their sign-in methods, and single-use links.

import type { Passkey } from '../../../kernel/crypto/webauthn.ts';
import { Fault } from '../../../kernel/fault.ts';
import { stateTable } from '../../../kernel/states.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { RoleName } from '../roles/index.ts';

type StoredStatus = 'ACTIVE' | 'DISABLED';

export const userStates = stateTable<StoredStatus, 'disable' | 'enable'>('operator user', {
  ACTIVE: { disable: 'DISABLED' },
  DISABLED: { enable: 'ACTIVE' },
});

const emailTakenFault = (): Fault =>
  new Fault('CONFLICT', 'Another operator user has this e-mail address.');

const COLUMNS = {
  id: col.text,
  name: col.text.mut,
  /** Sealed. */
  email: col.text.null.mut,
  email_digest: col.text.null.mut,
  roles: col.enums<RoleName>().mut,
  /** Null for all platforms. */
  platform_ids: col.enums<string>().null.mut,
  status: col.enum<StoredStatus>().mut,
  password_hash: col.text.null.mut,
  /** Sealed. */
  totp_secret: col.text.null.mut,
  totp_step: col.int8.mut,
  identity_issuer: col.text.null.mut,
  identity_subject: col.text.null.mut,
  enrolled_at: col.time.null.mut,
  /** ID of the operator who created the user, or `first start` or `identity provider`. */
  created_by: col.text,
  created_at: col.time,
  updated_at: col.time.mut,
  version: col.int4,
};

export const operatorUsers = table('operator_users', COLUMNS, {
  lifecycles: [{ state: (row) => row.status, states: userStates }],
  unique: { operator_users_email_digest_key: emailTakenFault },
  contendedKeys: ['operator_users_pkey', 'operator_users_identity_issuer_identity_subject_key'],
});

export type UserRow = RowOf<typeof operatorUsers>;

/** A registered passkey with its transports, for the options of the browser. */
export interface StoredPasskey extends Passkey {
  transports: string[];
}

export const operatorPasskeys = table(
  'operator_passkeys',
  {
    id: col.text,
    user_id: col.text,
    name: col.text,
    /** base64url without padding. */
    credential_id: col.text,
    passkey: col.json<StoredPasskey>(),
    sign_count: col.int8.mut,
    used_at: col.time.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    unique: {
      operator_passkeys_credential_id_key: () =>
        new Fault('CONFLICT', 'This passkey is registered already.'),
    },
  },
);

export type PasskeyRow = RowOf<typeof operatorPasskeys>;

/** `ENROLLMENT` registers the first sign-in method. `RECOVERY` replaces all earlier methods. */
export type LinkKind = 'ENROLLMENT' | 'RECOVERY';

export const operatorLinks = table('operator_links', {
  id: col.text,
  user_id: col.text,
  kind: col.enum<LinkKind>(),
  /** SHA-256 of the secret, hex. */
  secret_hash: col.text,
  expires_at: col.time.mut,
  used_at: col.time.null.mut,
  created_by: col.text,
  created_at: col.time,
  updated_at: col.time.mut,
  version: col.int4,
});

export type LinkRow = RowOf<typeof operatorLinks>;
