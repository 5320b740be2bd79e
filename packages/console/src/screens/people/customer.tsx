// A customer: status, factors, documents, payments, cards, agents and messages. Personal data is
// shown on request.
import { Link, useParams } from '@tanstack/react-router';
import { ActionButton } from '../../action/action.tsx';
import { Reveal } from '../../action/reveal.tsx';
import { useReply } from '../../api/queries.ts';
import { usePermits } from '../../api/session.tsx';
import { columnsOf, pathIn } from '../../parts/columns.tsx';
import { ReplyFacts } from '../../parts/detail.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Identifier } from '../../parts/identifier.tsx';
import { List } from '../../parts/list.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { sentence } from '../../texts/fields.ts';
import { PEOPLE_TEXTS as T } from '../../texts/people.ts';
import { DocumentView } from './document.tsx';

const listPaymentsColumns = columnsOf<'listPayments'>();
const searchCardsColumns = columnsOf<'searchCards'>();
const searchAgentsColumns = columnsOf<'searchAgents'>();
const listMessagesColumns = columnsOf<'listMessages'>();

function CustomerActions({ customerId }: { customerId: string }) {
  const { data } = useReply('getCustomerOfPlatform', { path: { customerId } });
  if (!data || data.isErased) return null;
  const base = { path: { customerId }, description: <Facts value={{ customerId }} /> };
  return (
    <>
      <ActionButton {...base} id="unlockCustomer" label={T.unlock} />
      <ActionButton {...base} id="eraseCustomer" label={T.erase} isDangerous />
    </>
  );
}

const Documents = ({ id }: { id: string }) => (
  <Reveal
    id="listDocumentsForReview"
    input={{ path: { customerId: id }, query: { limit: 100 } }}
    label={T.showDocuments}
  >
    {({ data }) =>
      data.length === 0 ? (
        <p className="empty">{T.noDocuments}</p>
      ) : (
        data.map((each) => (
          <section key={each.id}>
            <Facts value={each} hiddenFields={['platformId', 'customerId']} />
            <DocumentView id={each.id} title={T.documentOf(each.documentType)} />
          </section>
        ))
      )
    }
  </Reveal>
);

export function Customer() {
  const { id } = useParams({ strict: false }) as { id: string };
  const permits = usePermits();
  return (
    <Screen title={T.customer} subject={id} actions={<CustomerActions customerId={id} />}>
      <p className="sub">
        <Identifier id={id} />{' '}
        {permits('getVerificationCase') && (
          <Link to="/verifications/$id" params={{ id }}>
            {T.details}
          </Link>
        )}
      </p>
      <div className="columns">
        <Panel title={T.state}>
          <ReplyFacts
            id="getCustomerOfPlatform"
            path={{ customerId: id }}
            hiddenFields={['id', 'cards', 'agents']}
          />
        </Panel>
        {permits('getCustomerAuthentication') && (
          <Panel title={T.factors}>
            <ReplyFacts id="getCustomerAuthentication" path={{ customerId: id }} />
            <Reveal
              id="listAuthenticationEvents"
              input={{ path: { customerId: id }, query: { limit: 100 } }}
              label={T.showEvents}
            >
              {({ data }) => <Facts value={{ events: data }} />}
            </Reveal>
          </Panel>
        )}
      </div>
      <Panel title={T.personal}>
        <Reveal id="exportCustomerData" input={{ path: { customerId: id } }} label={T.showData}>
          {({ data }) =>
            data.map(({ table, row }, index) => (
              // Rows have no common key, and their order does not change.
              <section key={`${table}-${index.toString()}`} className="record">
                <h3>{sentence(table.replaceAll('_', ' '))}</h3>
                <Facts value={row} />
              </section>
            ))
          }
        </Reveal>
      </Panel>
      {permits('listDocumentsForReview') && (
        <Panel title={T.documents}>
          <Documents id={id} />
        </Panel>
      )}
      {permits('listPayments') && (
        <Panel title={T.payments}>
          <List
            id="listPayments"
            query={{ customerId: id }}
            columns={[
              ...listPaymentsColumns.numbers('sentAmount'),
              ...listPaymentsColumns.fields('status', 'createdAt', 'failureReason', 'type'),
              ...listPaymentsColumns.numbers('receivedAmount'),
              ...listPaymentsColumns.fields('rail', 'reference', 'id'),
            ]}
            pathOf={pathIn('/payments', 'id')}
          />
        </Panel>
      )}
      {permits('searchCards') && (
        <Panel title={T.cards}>
          <List
            id="searchCards"
            query={{ customerId: id }}
            columns={searchCardsColumns.fields(
              'last4',
              'state',
              'createdAt',
              'stateReason',
              'cardId',
            )}
            pathOf={pathIn('/cards', 'cardId')}
          />
        </Panel>
      )}
      {permits('searchAgents') && (
        <Panel title={T.agents}>
          <List
            id="searchAgents"
            query={{ customerId: id }}
            columns={searchAgentsColumns.fields('name', 'state', 'createdAt', 'agentId')}
            pathOf={pathIn('/agents', 'agentId')}
          />
        </Panel>
      )}
      {permits('listMessages') && (
        <Panel title={T.messages}>
          <List
            id="listMessages"
            query={{ customerId: id }}
            columns={listMessagesColumns.fields(
              'kind',
              'status',
              'createdAt',
              'failure',
              'channel',
            )}
          />
        </Panel>
      )}
    </Screen>
  );
}
