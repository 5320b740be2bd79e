// Paths that exist and do not support the method of the request. Each path is stored once here instead of
// as a route per unsupported method: a thousand more routes would cost every start time and memory.
import FindMyWay from 'find-my-way';
import type { Naming } from '../../catalog/naming.ts';
import type { Contract } from '../../kernel/contract/operation.ts';
import { Fault } from '../../kernel/fault.ts';
import { routeOf } from '../route.ts';

export interface UnsupportedMethod {
  fault: Fault;
  /** Methods that the path supports, as in the header `Allow`. */
  allowed: string;
  /** Template of the path. */
  path: string;
  contracts: Contract[];
}

/** Other methods, such as HEAD and OPTIONS, get the reply of an unknown path. */
const METHODS = new Set<string>(['GET', 'POST', 'PATCH', 'PUT', 'DELETE']);

/** The contracts of each route. */
function contractsOf(operations: readonly { contract: Contract }[], naming: Naming) {
  const contractsByRoute = new Map<string, Contract[]>();
  for (const { contract } of operations) {
    const route = routeOf(contract, naming);
    contractsByRoute.set(route, [...(contractsByRoute.get(route) ?? []), contract]);
  }
  return contractsByRoute;
}

/** Whether a URL of the first route is one of the second, whose parameters accept its fixed segments. */
const isShadowedBy = (segments: readonly string[], others: readonly string[]) =>
  segments.length === others.length &&
  others.every((each, index) => each.startsWith(':') || each === segments[index]);

/**
 * Unsupported methods of routes that other routes would otherwise accept: `PATCH /agents/approvals` is
 * a request to `/agents/:id`.
 */
export function shadowedMethods(operations: readonly { contract: Contract }[], naming: Naming) {
  const routes = [...contractsOf(operations, naming)].map(([url, contracts]) => ({
    ...{ url, segments: url.split('/'), methods: contracts.map(({ method }) => method) },
  }));
  return routes.flatMap(({ url, segments, methods }) => {
    const others = routes.filter(
      (each) => each.url !== url && isShadowedBy(segments, each.segments),
    );
    const accepted = new Set<Contract['method']>(others.flatMap((each) => each.methods));
    for (const each of methods) accepted.delete(each);
    return accepted.size > 0 ? [{ url, methods: [...accepted] }] : [];
  });
}

/** Returns a function that describes a request without a route, or undefined if its path is unknown. */
export function createUnsupportedMethods(
  operations: readonly { contract: Contract }[],
  naming: Naming,
  maxParamLength: number,
) {
  const paths = FindMyWay({ maxParamLength });
  for (const [route, contracts] of contractsOf(operations, naming)) {
    const allowed = [...new Set(contracts.map(({ method }) => method))].join(', ');
    const fault = new Fault('METHOD_NOT_ALLOWED', `This path supports ${allowed} only.`);
    const { path = '' } = contracts[0] ?? {};
    const store: UnsupportedMethod = { fault, allowed, path, contracts };
    paths.on('GET', route, () => undefined, store);
  }
  return ({ method, url }: { method: string; url: string }): UnsupportedMethod | undefined =>
    METHODS.has(method) ? (paths.find('GET', url)?.store as UnsupportedMethod) : undefined;
}
