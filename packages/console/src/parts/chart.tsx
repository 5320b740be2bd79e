// A chart over time, with the same numbers as a table for screen readers.
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { TEXTS } from '../texts/texts.ts';
import { Scroll } from './scroll.tsx';

export interface Series {
  label: string;
  values: readonly (number | null)[];
  /** Custom property of the style sheet with the color of the line. */
  color: string;
  /** The text of a value. */
  text: (value: number) => string;
}

interface ChartProps {
  label: string;
  /** Starts of the buckets, in seconds. */
  times: readonly number[];
  series: readonly Series[];
}

const HEIGHT = 220;
const FILL_ALPHA_HEX = '22';

const colorOf = (element: Element, name: string) =>
  getComputedStyle(element).getPropertyValue(name).trim();

const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

function optionsOf(element: Element, series: readonly Series[], width: number): uPlot.Options {
  const [soft, divider] = ['--text-soft', '--divider'].map((name) => colorOf(element, name));
  const axis = {
    stroke: soft ?? '',
    grid: { stroke: divider ?? '', width: 1 },
    ticks: { show: false },
  };
  const font = `12px ${getComputedStyle(element).fontFamily}`;
  const firstSeries = series[0];
  return {
    ...{ width, height: HEIGHT },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'UTC'),
    legend: { live: true },
    // The axis includes zero, because the area below a line is filled.
    scales: { y: { range: (_, min, max) => [Math.min(min ?? 0, 0), (max ?? 0) * 1.1 || 1] } },
    axes: [
      { ...axis, font, grid: { show: false } },
      {
        ...axis,
        font,
        size: 72,
        values: (_, ticks) => ticks.map((each) => firstSeries?.text(each) ?? ''),
      },
    ],
    series: [
      {
        label: 'UTC',
        value: (_, time) => (time ? dayFormat.format(new Date(time * 1_000)) : TEXTS.none),
      },
      ...series.map(({ label, color, text }) => {
        const stroke = colorOf(element, color);
        const value: uPlot.Series.Value = (_, each) => (each === null ? TEXTS.none : text(each));
        return {
          label,
          stroke,
          width: 2,
          fill: `${stroke}${FILL_ALPHA_HEX}`,
          value,
          points: { show: false },
        };
      }),
    ],
  };
}

function Numbers({ label, times, series }: ChartProps) {
  return (
    <details>
      <summary>{TEXTS.chartTable}</summary>
      <Scroll label={label}>
        <table className="grid">
          <caption className="unseen">{label}</caption>
          <thead>
            <tr>
              <th scope="col">UTC</th>
              {series.map(({ label: each }) => (
                <th key={each} scope="col" className="number">
                  {each}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((time, index) => (
              <tr key={time}>
                <td>{dayFormat.format(new Date(time * 1_000))}</td>
                {series.map(({ label: each, values, text }) => {
                  const value = values[index];
                  return (
                    <td key={each} className="number">
                      {value === null || value === undefined ? TEXTS.none : text(value)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </details>
  );
}

export function Chart(props: ChartProps) {
  const { label, times, series } = props;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const data = [times, ...series.map(({ values }) => values)] as unknown as uPlot.AlignedData;
    let plot: uPlot | undefined;
    const draw = () => {
      plot?.destroy();
      plot = new uPlot(optionsOf(element, series, element.clientWidth), data, element);
    };
    draw();
    const resizeObserver = new ResizeObserver(() =>
      plot?.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    resizeObserver.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', draw);
    return () => {
      resizeObserver.disconnect();
      dark.removeEventListener('change', draw);
      plot?.destroy();
    };
  }, [times, series]);
  return (
    <figure className="chart">
      <figcaption className="label">{label}</figcaption>
      <div ref={box} aria-hidden="true" />
      <Numbers {...props} />
    </figure>
  );
}
