// The endpoint of a listener. It is read from the state file, found by its description, or created.
import type { Client, EventType } from '../sdk.ts';
import type { ListenState } from './state.ts';

export interface Registration {
  readonly label: string;
  readonly types: readonly EventType[];
}

export interface Endpoint extends ListenState {
  /** Whether an earlier run created the endpoint, which can have undelivered events. */
  readonly isResumed: boolean;
}

export const isNotFound = (error: unknown) => (error as { status?: unknown }).status === 404;

type WebhookEndpoint = Awaited<ReturnType<Client['webhookEndpoints']['getWebhookEndpointById']>>;

async function read(client: Client, endpointId: string): Promise<WebhookEndpoint | undefined> {
  try {
    return await client.webhookEndpoints.getWebhookEndpointById({ endpointId });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

const hasSameTypes = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((type) => b.includes(type));

/** Enables a paused endpoint, and sets the event types of this run. */
async function adjust(
  client: Client,
  endpoint: WebhookEndpoint,
  { types }: Registration,
): Promise<void> {
  if (endpoint.status === 'ENABLED' && hasSameTypes(endpoint.eventTypes, types)) return;
  await client.webhookEndpoints.updateWebhookEndpoint({
    endpointId: endpoint.id,
    status: 'ENABLED',
    eventTypes: [...types],
  });
}

export async function ensureEndpoint(
  client: Client,
  storedState: ListenState | undefined,
  registration: Registration,
): Promise<Endpoint> {
  const { webhookEndpoints: endpoints } = client;
  const storedEndpoint = storedState && (await read(client, storedState.endpointId));
  if (storedState && storedEndpoint) {
    await adjust(client, storedEndpoint, registration);
    return { ...storedState, isResumed: true };
  }
  const { data } = await endpoints.listWebhookEndpoints();
  const { label, types } = registration;
  const endpoint = data.find((each) => each.delivery === 'PULL' && each.description === label);
  if (endpoint) {
    // The secret is shown only once, so a new secret is created for the endpoint.
    const endpointId = endpoint.id;
    const { secret = '' } = await endpoints.rotateWebhookEndpointKey({
      endpointId,
      overlapHours: 0,
    });
    await adjust(client, endpoint, registration);
    return { endpointId, secret, isResumed: true };
  }
  const createdEndpoint = await endpoints.createWebhookEndpoint({
    delivery: 'PULL',
    description: label,
    eventTypes: [...types],
  });
  return { endpointId: createdEndpoint.id, secret: createdEndpoint.secret ?? '', isResumed: false };
}
