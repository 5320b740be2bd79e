// Detects commits that no replica has confirmed. With synchronous replication, PostgreSQL ends the wait for
// a replica early if the statement is canceled. PostgreSQL then sends a warning and reports the commit as a
// success, although only the primary has the commit. The outcome of such a commit counts as unknown.
import net from 'node:net';
import type pg from 'pg';

/** Fields of the warning. The text can be translated, so `routine` is checked as well. */
interface Notice {
  severity?: string | undefined;
  routine?: string | undefined;
  message?: string | undefined;
}

/** Whether a notice reports that a commit is on the primary only. */
const isCanceledWait = ({ routine, message }: Notice): boolean =>
  routine === 'SyncRepWaitForLSN' || /^cancell?ing (the )?wait for synchronous/.test(message ?? '');

const canceledClients = new WeakSet<pg.Client>();

/** Records canceled waits of a connection. */
export function watchWaits(client: pg.Client): void {
  client.on('notice', (notice) => {
    if (isCanceledWait(notice)) canceledClients.add(client);
  });
}

/** Whether any commit of this connection may be on the primary only. */
export const hasCanceledWait = (client: pg.Client): boolean => canceledClients.has(client);

/**
 * A commit without data that a replica must confirm, if there is synchronous replication. Commits that
 * became visible before are then on the replica as well, because a replica confirms positions of one log.
 * Returns the position of the commit, or null if no replica must confirm it.
 */
export const CONFIRM = `select case
  when not pg_is_in_recovery() and current_setting('synchronous_standby_names') <> ''
  then pg_logical_emit_message(true, 'railhead', 'confirm') end as position`;

const CANCEL_CODE = 80_877_102;
const CANCEL_MS = 1_000;

/**
 * Cancels the wait of a connection for a replica, so that its backend exits with the connection. A waiting
 * backend does not detect a closed connection. Only for transactions without data.
 */
export function cancelWait(client: pg.Client): Promise<void> {
  // The types of the driver omit both numbers.
  const { host, port, processID, secretKey } = client as pg.Client & {
    processID?: number | null;
    secretKey?: number | null;
  };
  if (processID == null || secretKey == null) return Promise.resolve();
  const message = Buffer.alloc(16);
  [message.length, CANCEL_CODE, processID, secretKey].forEach((number, index) => {
    message.writeInt32BE(number, index * 4);
  });
  return new Promise((resolve) => {
    const socket = host.startsWith('/')
      ? net.connect(`${host}/.s.PGSQL.${port}`)
      : net.connect(port, host);
    socket.setTimeout(CANCEL_MS, () => socket.destroy());
    socket.on('error', () => undefined).on('close', () => resolve());
    socket.resume().end(message);
  });
}
