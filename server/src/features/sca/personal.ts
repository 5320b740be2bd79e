// What of strong authentication is about its customer beyond what is removed: from where things were done.
import type { DataKey, Vault } from '../../runtime/security/vault.ts';
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
