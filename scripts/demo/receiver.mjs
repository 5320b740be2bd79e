// A webhook receiver of a platform: verifies the signature over the raw body, stores new events, and
// replies. `expect` prints the received events and waits for the expected events of each resource,
// in the expected order.
import { verify } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { buffer } from 'node:stream/consumers';
import { money, printCheck } from './print.mjs';

const show = ({ amount, currency }) => money(amount, currency);

/** Describes an event beyond its type. */
function descriptionOf({ type, data }) {
  if (data.balance) return `${show(data.balance)} available, ${show(data.totalBalance)} in total`;
  if (type.endsWith('.FAILED')) return data.failureReason;
  if (type.includes('.REFUND_')) return show(data.sentAmount);
  if (data.sentAmount) return `${show(data.sentAmount)} → ${show(data.receivedAmount)}`;
  if (data.receivedAmount) return show(data.receivedAmount);
  return data.fullName ?? '';
}

/** Balance events of one account may arrive out of order. The IDs sort by creation. */
const sortBalanceEvents = (subject, events) =>
  subject.startsWith('InternalAccount:')
    ? events.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    : events;

const fullText = ({ type, description }) => `${type} ${description}`.trimEnd();
/** An expectation is a type, or a type and a description. */
const matches = (event, expectedText) =>
  expectedText === event.type || expectedText === fullText(event);

/**
 * Listens on a free port. `header` is the name of the signature header, and `publicKey` verifies
 * the signature. `isOurs` selects the events of the demonstration among those of the platform.
 */
export async function startReceiver({ publicKey, header, isOurs, signal }) {
  const eventIds = new Set();
  const newEvents = [];
  const printedEvents = {};
  const expectedBySubject = {};
  let failure;

  /** Handles one request. Returns the status of the response. */
  function acceptRequest(body, signature = '') {
    if (!verify('sha256', body, publicKey, Buffer.from(signature, 'base64'))) {
      failure = new Error(`The ${header} of a webhook does not match the public key.`);
      return 401;
    }
    const event = JSON.parse(body.toString());
    // An event of other clients. It is delivered again after the platform's endpoint is restored.
    if (!isOurs(event)) return 503;
    // An event can be delivered repeatedly. Duplicates are ignored.
    if (!eventIds.has(event.id)) newEvents.push({ ...event, description: descriptionOf(event) });
    eventIds.add(event.id);
    return 200;
  }

  const server = http.createServer(async (request, response) => {
    const body = await buffer(request).catch(() => undefined);
    if (!body) return;
    response.writeHead(acceptRequest(body, request.headers[header])).end();
    server.emit('webhook');
  });

  function printNew() {
    if (failure) throw failure;
    for (const event of newEvents.splice(0)) {
      const subject = event.data.id ?? event.type;
      printedEvents[subject] = [...(printedEvents[subject] ?? []), event];
      printCheck(event.type, event.description);
    }
  }

  const eventsOf = (subject) => sortBalanceEvents(subject, printedEvents[subject] ?? []);
  const waitingSubjects = () =>
    Object.keys(expectedBySubject).filter(
      (name) => eventsOf(name).length < expectedBySubject[name].length,
    );

  /** Throws at the first unexpected event. */
  function compare(subject, events, expectedTexts) {
    for (let index = 0; index < Math.max(events.length, expectedTexts.length); index += 1) {
      if (events[index] && matches(events[index], expectedTexts[index])) continue;
      const actualText = events[index] ? `is ${fullText(events[index])}` : 'did not arrive';
      const expectation = expectedTexts[index]
        ? `should be ${expectedTexts[index]}`
        : 'was not expected';
      throw new Error(`Webhook ${index + 1} about ${subject} ${expectation} and ${actualText}.`);
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}/webhooks`,

    /** Waits for further events, as lists by resource. */
    async expect(expectedEvents) {
      for (const subject in expectedEvents) {
        expectedBySubject[subject] = [
          ...(expectedBySubject[subject] ?? []),
          ...expectedEvents[subject],
        ];
      }
      for (printNew(); waitingSubjects().length > 0; printNew()) {
        await once(server, 'webhook', { signal }).catch(() => {
          const [subject] = waitingSubjects();
          compare(subject, eventsOf(subject), expectedBySubject[subject]);
        });
      }
      for (const subject in expectedEvents) {
        const expectedTexts = expectedBySubject[subject];
        compare(subject, eventsOf(subject).slice(0, expectedTexts.length), expectedTexts);
      }
    },

    /** Fails if unexpected events arrived. Returns the number of events. */
    finish() {
      printNew();
      for (const subject in printedEvents)
        compare(subject, eventsOf(subject), expectedBySubject[subject] ?? []);
      return eventIds.size;
    },

    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
