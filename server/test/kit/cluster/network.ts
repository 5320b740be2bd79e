// Networks of a cluster: the loopback interface, or a network namespace for each node. Only
// namespaces can be disconnected. Namespaces require root.
import { spawnSync } from 'node:child_process';

export interface Network {
  /** Address of processes outside the namespaces. */
  readonly host: string;
  /** Address range from which the databases accept connections. */
  readonly range: string;
  addressOf(index: number): string;
  /** Command prefix that runs a program in the namespace of a node. */
  prefixOf(index: number): readonly string[];
  /** Disconnects a node from all others, or reconnects it. */
  setConnected(index: number, isConnected: boolean): void;
  remove(): void;
}

export const loopback: Network = {
  host: '127.0.0.1',
  range: '127.0.0.1/32',
  addressOf: () => '127.0.0.1',
  prefixOf: () => [],
  setConnected() {
    throw new Error(
      'Nodes on the loopback interface cannot be disconnected. Use createNamespaces().',
    );
  },
  remove: () => undefined,
};

function ip(...args: string[]): void {
  const { status, stderr, error } = spawnSync('ip', args, { encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr.trim()}`);
}

/**
 * Creates a bridge and a namespace for each node. Names and addresses are derived from the ID of
 * this process.
 */
export function createNamespaces(count: number): Network {
  const id = process.pid % 100_000;
  const subnet = `10.213.${process.pid % 250}`;
  const bridge = `rhb${id}`;
  const namespaceOf = (index: number) => `railhead-${id}-${index + 1}`;
  const linkOf = (index: number) => `rhv${id}-${index + 1}`;
  const addressOf = (index: number) => `${subnet}.${11 + index}`;
  const undoSteps: (() => void)[] = [];

  function remove(): void {
    for (const undo of undoSteps.splice(0).reverse()) {
      try {
        undo();
      } catch (error) {
        console.warn(String(error));
      }
    }
  }

  try {
    ip('link', 'add', bridge, 'type', 'bridge');
    undoSteps.push(() => ip('link', 'del', bridge));
    ip('addr', 'add', `${subnet}.1/24`, 'dev', bridge);
    ip('link', 'set', bridge, 'up');
    for (let index = 0; index < count; index++) {
      const namespace = namespaceOf(index);
      ip('netns', 'add', namespace);
      undoSteps.push(() => ip('netns', 'del', namespace));
      const peer = ['type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace];
      ip('link', 'add', linkOf(index), ...peer);
      ip('link', 'set', linkOf(index), 'master', bridge, 'up');
      ip('-n', namespace, 'addr', 'add', `${addressOf(index)}/24`, 'dev', 'eth0');
      ip('-n', namespace, 'link', 'set', 'eth0', 'up');
      ip('-n', namespace, 'link', 'set', 'lo', 'up');
    }
  } catch (error) {
    remove();
    throw error;
  }
  return {
    host: `${subnet}.1`,
    range: `${subnet}.0/24`,
    addressOf,
    prefixOf: (index) => ['ip', 'netns', 'exec', namespaceOf(index)],
    setConnected(index, isConnected) {
      ip('link', 'set', linkOf(index), isConnected ? 'up' : 'down');
    },
    remove,
  };
}
