// Closes the connections of this process to a former primary. A former primary can continue to run, and its
// connections then return outdated rows. The primary is the PostgreSQL on which a replica confirmed the last
// commit.
import type pg from 'pg';

/** Identifies a PostgreSQL by the time at which it started. */
export const INSTANCE = 'extract(epoch from pg_postmaster_start_time())::text as instance';

interface Connection {
  instance: string;
  url: string;
}

const connections = new Map<pg.Client, Connection>();

/** Adds an open connection, until it is closed. `url` is the DATABASE_URL. */
export function addConnection(client: pg.Client, connection: Connection): void {
  connections.set(client, connection);
  client.on('end', () => connections.delete(client));
}

/**
 * Called after a replica confirmed a commit on `client`, which shows that it is connected to the primary.
 * Closes the connections of the same DATABASE_URL to other instances. Their queries fail as after a lost
 * connection.
 */
export function closeFormerConnections(client: pg.Client): void {
  const primary = connections.get(client);
  if (!primary) return;
  for (const [each, { instance, url }] of connections) {
    if (url === primary.url && instance !== primary.instance) each.connection.stream.destroy();
  }
}
