// A stablecoin: its supply in the ledger and by its mints and burns, and the decisions about it.
import { actionsIn } from '../../action/types.ts';
import type { Reply } from '../../api/client.ts';
import { columnsOf } from '../../parts/columns.tsx';
import { Detail } from '../../parts/detail.tsx';
import { Facts } from '../../parts/facts.tsx';
import { List } from '../../parts/list.tsx';
import { unitsText } from '../../parts/money.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Scroll } from '../../parts/scroll.tsx';
import { QUEUE_TEXTS as T } from '../../texts/queues.ts';
import { TEXTS } from '../../texts/texts.ts';
import { COIN_ACTIONS } from './queues.tsx';

type Coin = Reply<'getStablecoinSupply'>;

const historyColumns = columnsOf<'listStablecoinHistory'>();

const Supply = ({ supply, ties, decimals, symbol }: Coin) => (
  <Panel title={T.supply}>
    <p>
      <span className={`status ${ties ? 'good' : 'bad'}`}>{ties ? T.ties : T.differs}</span>
    </p>
    <Scroll label={T.supply}>
      <table className="grid">
        <thead>
          <tr>
            <th scope="col">{T.measure}</th>
            <th scope="col" className="number">
              {T.inLedger}
            </th>
            <th scope="col" className="number">
              {T.byOperations}
            </th>
          </tr>
        </thead>
        <tbody>
          {supply.map(({ measure, ledger, expected }) => (
            <tr key={measure}>
              <td>{T.measures[measure]}</td>
              {[ledger, expected].map((units, index) => (
                <td key={['ledger', 'expected'][index]} className="number">
                  <span className="amount" title={TEXTS.minorUnits(units, symbol)}>
                    {unitsText(units, decimals)} {symbol}
                  </span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  </Panel>
);

export const StablecoinScreen = () => (
  <Detail
    id="getStablecoinSupply"
    parameter="stablecoinId"
    title={T.stablecoin}
    panel={T.details}
    status={({ serviceOperationsStatus }) => serviceOperationsStatus}
    actions={({ id, symbol, serviceOperationsStatus }) =>
      actionsIn(COIN_ACTIONS, serviceOperationsStatus).map((action) => ({
        ...action,
        path: { stablecoinId: id },
        description: <Facts value={{ id, symbol, serviceOperationsStatus }} />,
      }))
    }
    hiddenFields={['id', 'circulating', 'supply', 'ties']}
  >
    {(coin) => (
      <>
        <Supply {...coin} />
        <Panel title={T.decisions}>
          <List
            id="listStablecoinHistory"
            path={{ stablecoinId: coin.id }}
            columns={historyColumns.fields('action', 'reason', 'actor', 'createdAt')}
            emptyText={T.noDecisions}
          />
        </Panel>
      </>
    )}
  </Detail>
);
