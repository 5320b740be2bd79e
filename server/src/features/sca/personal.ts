// What strong authentication holds about a customer. An erasure removes all but the record of what was done,
// whose addresses lie under the customer's own key.
import type { Runtime } from '../../runtime/operation/operate.ts';
import { OF_CUSTOMER, type PersonalData, rowAs } from '../../runtime/operation/personal-data.ts';
import type { DataKey, Vault } from '../../runtime/security/vault.ts';
import { eraseCodes } from '../notifications/codes/index.ts';
import type { ScaEventRow } from './store.ts';

/** What the address of an event is sealed as. */
export const addressContext = (id: string) => `sca_events ${id} ip_address`;

/** What an event keeps sealed; null once the key was forgotten. */
export const scaEventPersonal = (
  { vault, key }: { vault: Vault; key: DataKey | undefined },
  { id, ip_address: sealed }: ScaEventRow,
) => ({
  ip_address:
    key && sealed !== null ? vault.open(key, sealed, addressContext(id)).toString() : null,
});

const CODES = `select 'sca ' || id as id from sca_challenges where customer_id = $1`;

async function eraseChallengeCodes(runtime: Runtime, customerId: string): Promise<number> {
  const found = await runtime.db.query<{ id: string }>(CODES, [customerId]);
  return eraseCodes(
    runtime,
    found.map(({ id }) => id),
  );
}

export const scaPersonalData: PersonalData = {
  tables: {
    sca_standings: { rows: 't.id = $1', erasure: 'removed' },
    sca_factors: { rows: OF_CUSTOMER, without: ['facts', 'recovery'], erasure: 'removed' },
    sca_enrollments: { rows: OF_CUSTOMER, without: ['facts'], erasure: 'removed' },
    sca_challenges: { rows: OF_CUSTOMER, without: ['nonce'], erasure: 'removed' },
    sca_events: {
      rows: OF_CUSTOMER,
      open: (opener, row) => scaEventPersonal(opener, rowAs<ScaEventRow>(row)),
      erasure: { stays: 'what happened and when; from where lies under the key that is forgotten' },
    },
    sca_resets: { rows: OF_CUSTOMER, without: ['token_hash'], erasure: 'removed' },
  },
  empty: async (runtime, { id }) => ({ codes: await eraseChallengeCodes(runtime, id) }),
};
