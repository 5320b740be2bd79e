// Configuration files of a cluster. A test compares these settings with
// docs/guides/high-availability.md.

/** One database node. */
export interface NodeSettings {
  name: string;
  host: string;
  port: number;
  /** Port of Patroni's REST API. */
  apiPort: number;
  dataFolder: string;
}

export const USER = 'railhead';
export const DATABASE = 'railhead';
export const PASSWORD = 'local-cluster';

/** Settings of the whole cluster, which Patroni stores in etcd. */
const CLUSTER_SETTINGS = `    ttl: 20
    loop_wait: 5
    retry_timeout: 5
    maximum_lag_on_failover: 1048576
    synchronous_mode: true
    synchronous_mode_strict: true
    failsafe_mode: true
    primary_start_timeout: 30
    postgresql:
      use_pg_rewind: true
      use_slots: true
      parameters:
        max_connections: 200
        wal_level: replica
        hot_standby: 'on'
        wal_log_hints: 'on'
        max_wal_senders: 10
        max_replication_slots: 10
        synchronous_commit: 'on'
        shared_buffers: 64MB
        max_wal_size: 128MB
        min_wal_size: 32MB
        wal_keep_size: 32MB
        max_slot_wal_keep_size: 128MB`;

interface PatroniOptions {
  etcd: string;
  binaries: string;
  /** Address range from which connections are accepted. */
  network: string;
}

export const patroniConfiguration = (
  node: NodeSettings,
  { etcd, binaries, network }: PatroniOptions,
): string => `scope: railhead
name: ${node.name}
etcd3:
  host: ${etcd}
restapi:
  listen: ${node.host}:${node.apiPort}
  connect_address: ${node.host}:${node.apiPort}
bootstrap:
  dcs:
${CLUSTER_SETTINGS}
  initdb:
    - encoding: UTF8
    - locale: C.UTF-8
    - data-checksums
postgresql:
  listen: ${node.host}:${node.port}
  connect_address: ${node.host}:${node.port}
  data_dir: ${node.dataFolder}
  bin_dir: ${binaries}
  authentication:
    superuser: { username: postgres, password: ${PASSWORD} }
    replication: { username: replicator, password: ${PASSWORD} }
    rewind: { username: rewinder, password: ${PASSWORD} }
  parameters:
    unix_socket_directories: ''
  pg_hba:
    - host all all ${network} scram-sha-256
    - host replication replicator ${network} scram-sha-256
watchdog:
  mode: 'off'
`;

interface ProxyPorts {
  port: number;
  apiPort: number;
}

interface Target {
  name: string;
  host: string;
  port: number;
}

const serverLine = ({ name, host, port }: Target) => `  server ${name} ${host}:${port} check`;

const databaseLine = ({ name, host, port, apiPort }: NodeSettings) =>
  `  server ${name} ${host}:${port} check port ${apiPort}`;

/** The database port of HAProxy leads to the primary, and its API port to all ready servers. */
export const haproxyConfiguration = (
  { port, apiPort }: ProxyPorts,
  nodes: readonly NodeSettings[],
  servers: readonly Target[],
): string => `defaults
  timeout connect 2s
  timeout check 2s

listen database
  bind 127.0.0.1:${port}
  mode tcp
  timeout client 1h
  timeout server 1h
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${nodes.map(databaseLine).join('\n')}

listen api
  bind 127.0.0.1:${apiPort}
  mode http
  timeout client 60s
  timeout server 60s
  option httpchk GET /readyz
  option redispatch
  default-server inter 500ms fall 2 rise 1
${servers.map(serverLine).join('\n')}
`;
